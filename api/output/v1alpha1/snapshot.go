// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Snapshot is a snapshot in a file, as snapshot save and snapshot status print it.
// It is also what stands in the file beside a saved one, with .json behind its name.
//
// +kubebuilder:object:root=true
type Snapshot struct {
	metav1.TypeMeta `json:",inline"`

	// File is the file's name; as it was given, in the file beside it without
	// its directory.
	File string `json:"file"`
	// Size is that of the whole file.
	Size int64 `json:"size"`
	// SHA256 is the hash of the database, without what is appended to it.
	SHA256 string `json:"sha256"`
	// Hashed says that this hash is appended to the database, and fits. A file
	// without is a copy of a member's own.
	Hashed bool `json:"hashed"`
	// Hash is what etcdutl snapshot status calls the hash.
	Hash string `json:"hash"`
	// Revision is that of the store; below CompactedRevision nothing can be read.
	Revision          int64 `json:"revision"`
	CompactedRevision int64 `json:"compactedRevision,omitempty"`
	// Keys are those that exist at Revision.
	Keys   int `json:"keys"`
	Leases int `json:"leases"`
	// StorageVersion is the format of the database, absent before etcd 3.6;
	// ClusterVersion is what its members had agreed on, absent before 3.5.
	StorageVersion string `json:"storageVersion,omitempty"`
	ClusterVersion string `json:"clusterVersion,omitempty"`
	// RaftIndex and RaftTerm are of the last entry in it; the term is absent
	// before 3.5.
	RaftIndex uint64 `json:"raftIndex,omitempty"`
	RaftTerm  uint64 `json:"raftTerm,omitempty"`
	// Auth says that authentication was on, and will be after a restore.
	Auth bool `json:"auth,omitempty"`
	// Members are those of the cluster that it is of.
	Members []SnapshotMember `json:"members,omitempty"`
	// Origin is where it came from, absent where nothing beside the file tells.
	Origin *SnapshotOrigin `json:"origin,omitempty"`
}

// Names is what -o name prints: the file.
func (s *Snapshot) Names() []string { return []string{s.File} }

// SnapshotMember is a member as the database has it.
type SnapshotMember struct {
	ID         string   `json:"id"`
	Name       string   `json:"name,omitempty"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs,omitempty"`
	Learner    bool     `json:"learner,omitempty"`
}

// SnapshotOrigin is where a snapshot came from, and how.
type SnapshotOrigin struct {
	Cluster ClusterReference `json:"cluster"`
	// ClusterID and MemberID are etcd's own.
	ClusterID string `json:"clusterID"`
	MemberID  string `json:"memberID"`
	// Member is its name, Pod where it ran, Role what it was: leader, follower or learner.
	Member string `json:"member,omitempty"`
	Pod    string `json:"pod"`
	Role   string `json:"role"`
	// EtcdVersion is what the member ran.
	EtcdVersion string `json:"etcdVersion"`
	// TakenAt is when the transfer began, by the clock of who saved it.
	TakenAt metav1.Time `json:"takenAt"`
	// TransferSeconds is how long the transfer took, made durable; VerifySeconds
	// how long the checks after it.
	TransferSeconds float64 `json:"transferSeconds"`
	VerifySeconds   float64 `json:"verifySeconds"`
	// Attempts is how many transfers it took.
	Attempts int `json:"attempts"`
}

// ClusterReference names the object that a cluster is known by.
type ClusterReference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}
