// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SnapshotList is what is known of the snapshots in a cluster's backup store.
//
// +kubebuilder:object:root=true
type SnapshotList struct {
	metav1.TypeMeta `json:",inline"`

	Cluster ClusterReference `json:"cluster"`
	// Store is where they are, absent where none is known.
	Store *SnapshotStore `json:"store,omitempty"`
	// Items are the last full snapshot and the deltas since, the oldest first:
	// what a restore would read. Older ones can't be listed.
	Items []StoredSnapshot `json:"items"`
	// Leases are what whoever takes the backups says of the last ones.
	Leases []SnapshotLease `json:"leases,omitempty"`
	// Tasks are druid's, the newest first.
	Tasks []SnapshotTask `json:"tasks,omitempty"`
	// BackupReady is the condition of that name, absent where there is none.
	BackupReady string `json:"backupReady,omitempty"`
	// Missing says what could not be listed, and why.
	Missing []string `json:"missing,omitempty"`
}

// Names is what -o name prints: the names of the snapshots.
func (l *SnapshotList) Names() []string {
	names := make([]string, len(l.Items))
	for i := range l.Items {
		names[i] = l.Items[i].Name
	}
	return names
}

// SnapshotStore is where backups are kept.
type SnapshotStore struct {
	Provider string `json:"provider"`
	// Container is the bucket, and Prefix where in it.
	Container string `json:"container,omitempty"`
	Prefix    string `json:"prefix,omitempty"`
}

// StoredSnapshot is one object in a store.
type StoredSnapshot struct {
	// Type is Full or Delta.
	Type string `json:"type"`
	Name string `json:"name"`
	// StartRevision and LastRevision are the first and the last that it has.
	StartRevision int64       `json:"startRevision"`
	LastRevision  int64       `json:"lastRevision"`
	CreatedAt     metav1.Time `json:"createdAt"`
	// Final is a snapshot that the store keeps for good.
	Final bool `json:"final,omitempty"`
}

// SnapshotLease is a lease that is renewed after each backup.
type SnapshotLease struct {
	// Type is Full, Delta or Backup.
	Type string `json:"type"`
	Name string `json:"name"`
	// Revision is the last in the store by this lease, 0 where it doesn't tell.
	Revision int64 `json:"revision,omitempty"`
	// RenewedAt is absent for one that never was.
	RenewedAt *metav1.Time `json:"renewedAt,omitempty"`
}

// SnapshotTask is an EtcdOpsTask for a snapshot.
type SnapshotTask struct {
	Name string `json:"name"`
	// Type is Full or Delta.
	Type  string `json:"type"`
	State string `json:"state,omitempty"`
	// Message is the last error, or what it does.
	Message   string       `json:"message,omitempty"`
	CreatedAt metav1.Time  `json:"createdAt"`
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}
