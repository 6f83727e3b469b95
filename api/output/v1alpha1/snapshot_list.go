// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SnapshotList has the known snapshots in a cluster's backup store, or in the folder of a URL.
//
// +kubebuilder:object:root=true
type SnapshotList struct {
	metav1.TypeMeta `json:",inline"`

	// Cluster is absent in a list of the folder of a URL.
	Cluster ClusterReference `json:"cluster,omitzero"`
	// Store is the backup store. It is absent if unknown.
	Store *SnapshotStore `json:"store,omitempty"`
	// Items are the last full snapshot and the deltas since then, the oldest first. A restore
	// would read them. Older snapshots can't be listed. In the folder of a URL or of a schedule they
	// are all snapshots, the oldest first.
	Items []StoredSnapshot `json:"items"`
	// Schedule is the schedule of kubectl etcd snapshot schedule. It is absent if there is none.
	Schedule *SnapshotSchedule `json:"schedule,omitempty"`
	// Leases are the leases that the backup program renews after each backup.
	Leases []SnapshotLease `json:"leases,omitempty"`
	// Tasks are etcd-druid's tasks, the newest first.
	Tasks []SnapshotTask `json:"tasks,omitempty"`
	// BackupReady is the condition of that name. It is absent if there is none.
	BackupReady string `json:"backupReady,omitempty"`
	// Missing has what could not be listed, with the reasons.
	Missing []string `json:"missing,omitempty"`
}

// Names returns the names of the snapshots, for -o name.
func (l *SnapshotList) Names() []string {
	names := make([]string, len(l.Items))
	for i := range l.Items {
		names[i] = l.Items[i].Name
	}
	return names
}

// SnapshotSchedule is a CronJob that saves snapshots.
type SnapshotSchedule struct {
	// CronJob is its name.
	CronJob string `json:"cronJob"`
	// URL is the folder, Every the time between two snapshots, and Keep how many are kept.
	URL   string `json:"url"`
	Every string `json:"every"`
	Keep  int    `json:"keep"`
	// Suspended is whether no run starts.
	Suspended bool `json:"suspended,omitempty"`
	// LastRun and LastSuccess are absent if there was none.
	LastRun     *metav1.Time `json:"lastRun,omitempty"`
	LastSuccess *metav1.Time `json:"lastSuccess,omitempty"`
}

// SnapshotStore is where backups are kept.
type SnapshotStore struct {
	Provider string `json:"provider"`
	// Container is the bucket, and Prefix the path in it.
	Container string `json:"container,omitempty"`
	Prefix    string `json:"prefix,omitempty"`
}

// StoredSnapshot is one object in a store.
type StoredSnapshot struct {
	// Type is Full or Delta.
	Type string `json:"type"`
	Name string `json:"name"`
	// StartRevision and LastRevision are its first and last revision.
	StartRevision int64       `json:"startRevision"`
	LastRevision  int64       `json:"lastRevision"`
	CreatedAt     metav1.Time `json:"createdAt"`
	// Size is in bytes. It is absent in a store of etcd-druid.
	Size int64 `json:"size,omitempty"`
	// Cluster is where the snapshot is from, according to its description in the folder of a URL.
	Cluster *ClusterReference `json:"cluster,omitempty"`
	// Final is true for a snapshot that the store never deletes.
	Final bool `json:"final,omitempty"`
}

// SnapshotLease is a lease that is renewed after each backup.
type SnapshotLease struct {
	// Type is Full, Delta or Backup.
	Type string `json:"type"`
	Name string `json:"name"`
	// Revision is the last revision in the store according to this lease. It is 0 if unknown.
	Revision int64 `json:"revision,omitempty"`
	// RenewedAt is absent if the lease was never renewed.
	RenewedAt *metav1.Time `json:"renewedAt,omitempty"`
}

// SnapshotTask is an EtcdOpsTask for a snapshot.
type SnapshotTask struct {
	Name string `json:"name"`
	// Type is Full or Delta.
	Type  string `json:"type"`
	State string `json:"state,omitempty"`
	// Message is the last error, or the current step.
	Message   string       `json:"message,omitempty"`
	CreatedAt metav1.Time  `json:"createdAt"`
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}
