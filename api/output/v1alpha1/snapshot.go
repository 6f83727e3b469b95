// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Snapshot is a snapshot in a file, as snapshot save and snapshot status print it. The file
// FILE.json beside a saved snapshot FILE also contains it.
//
// +kubebuilder:object:root=true
type Snapshot struct {
	metav1.TypeMeta `json:",inline"`

	// File is the file's name as given. In FILE.json it has no directory.
	File string `json:"file"`
	// Size is the size of the whole file.
	Size int64 `json:"size"`
	// SHA256 is the hash of the database without the hash that is appended to it.
	SHA256 string `json:"sha256"`
	// Hashed is whether the correct hash is appended to the database. A file without it is a
	// copy of a member's database.
	Hashed bool `json:"hashed"`
	// Hash is the hash that etcdutl snapshot status prints.
	Hash string `json:"hash"`
	// Revision is the revision of the store. Revisions below CompactedRevision can't be read.
	Revision          int64 `json:"revision"`
	CompactedRevision int64 `json:"compactedRevision,omitempty"`
	// Keys is the number of keys at Revision.
	Keys   int `json:"keys"`
	Leases int `json:"leases"`
	// StorageVersion is the format of the database. It is absent before etcd 3.6.
	// ClusterVersion is the version that the members agreed on. It is absent before 3.5.
	StorageVersion string `json:"storageVersion,omitempty"`
	ClusterVersion string `json:"clusterVersion,omitempty"`
	// RaftIndex and RaftTerm are those of the last entry. The term is absent before 3.5.
	RaftIndex uint64 `json:"raftIndex,omitempty"`
	RaftTerm  uint64 `json:"raftTerm,omitempty"`
	// Auth is whether authentication was enabled. It will be enabled after a restore, too.
	Auth bool `json:"auth,omitempty"`
	// Alarms are the types of the alarms that were raised, such as NOSPACE, each once. They are in force
	// after a restore, too, until they are disarmed. FILE.json of an earlier version lacks them.
	Alarms []string `json:"alarms,omitempty"`
	// Members are the members of the snapshot's cluster.
	Members []SnapshotMember `json:"members,omitempty"`
	// Origin is the source of the snapshot. It is absent without FILE.json.
	Origin *SnapshotOrigin `json:"origin,omitempty"`
	// Restored is what an etcd answers that was started from the snapshot. Only snapshot verify --restore
	// prints it.
	Restored *RestoredSnapshot `json:"restored,omitempty"`
}

// Names returns the file, for -o name.
func (s *Snapshot) Names() []string { return []string{s.File} }

// RestoredSnapshot is what an etcd answers that was started from a snapshot. Keys, hash and prefixes are those
// at the revision of the snapshot.
type RestoredSnapshot struct {
	// EtcdVersion is that of the etcd that was started.
	EtcdVersion string `json:"etcdVersion"`
	Revision    int64  `json:"revision"`
	Keys        int64  `json:"keys"`
	// Size is the size of the database, and SizeInUse what data has of it. Both are in bytes.
	Size      int64 `json:"size"`
	SizeInUse int64 `json:"sizeInUse"`
	// HashKV is etcd's hash of the keys.
	HashKV string `json:"hashKV"`
	Leases int    `json:"leases"`
	// Alarms are those that the snapshot has, such as NOSPACE.
	Alarms []string `json:"alarms,omitempty"`
	// Prefixes are the ten with the most bytes, the biggest first.
	Prefixes []SnapshotPrefix `json:"prefixes,omitempty"`
}

// SnapshotPrefix is what the keys with one beginning have.
type SnapshotPrefix struct {
	// Prefix is empty for keys without a slash.
	Prefix string `json:"prefix"`
	Keys   int64  `json:"keys"`
	// Bytes are those of keys and values.
	Bytes int64 `json:"bytes"`
}

// SnapshotMember is a member according to the database.
type SnapshotMember struct {
	ID         string   `json:"id"`
	Name       string   `json:"name,omitempty"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs,omitempty"`
	Learner    bool     `json:"learner,omitempty"`
}

// SnapshotOrigin is the source of a snapshot, and how it was saved.
type SnapshotOrigin struct {
	Cluster ClusterReference `json:"cluster"`
	// ClusterID and MemberID are etcd's IDs.
	ClusterID string `json:"clusterID"`
	MemberID  string `json:"memberID"`
	// Member is the member's name, and Pod its pod. Role is leader, follower or learner.
	Member string `json:"member,omitempty"`
	Pod    string `json:"pod"`
	Role   string `json:"role"`
	// EtcdVersion is the version of etcd that the member ran.
	EtcdVersion string `json:"etcdVersion"`
	// TakenAt is when the transfer started, by the clock of the plugin's machine.
	TakenAt metav1.Time `json:"takenAt"`
	// TransferSeconds is how long the transfer and the write to disk took. VerifySeconds is how
	// long the checks after it took.
	TransferSeconds float64 `json:"transferSeconds"`
	VerifySeconds   float64 `json:"verifySeconds"`
	// Attempts is the number of transfers.
	Attempts int `json:"attempts"`
}

// ClusterReference identifies the owner of a cluster.
type ClusterReference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}
