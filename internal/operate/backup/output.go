// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
)

// StoreOutput returns a backup store for printing.
func StoreOutput(s backupstore.Store) *v1alpha1.SnapshotStore {
	return &v1alpha1.SnapshotStore{Provider: s.Provider, Container: s.Container, Prefix: s.Prefix}
}

// Output returns the snapshot for printing.
func (s StoredSnapshot) Output() v1alpha1.StoredSnapshot {
	kind := "Delta"
	if s.Kind == "Full" {
		kind = "Full"
	}
	name := s.Name
	if s.Dir != "" {
		name = s.Dir + "/" + name
	}
	return v1alpha1.StoredSnapshot{
		Type: kind, Name: name, StartRevision: s.StartRevision, LastRevision: s.LastRevision, CreatedAt: metav1.NewTime(s.CreatedOn), Final: s.Final,
	}
}

// TaskOutput returns a task of etcd-druid for printing.
func TaskOutput(t druidv1alpha1.EtcdOpsTask) v1alpha1.SnapshotTask {
	kind := "Full"
	if t.Spec.Config.OnDemandSnapshot.Type == druidv1alpha1.OnDemandSnapshotTypeDelta {
		kind = "Delta"
	}
	out := v1alpha1.SnapshotTask{
		Name: t.Name, Type: kind, State: string(ptr.Deref(t.Status.State, "")), Message: LastError(&t),
		CreatedAt: t.CreationTimestamp, StartedAt: t.Status.StartedAt,
	}
	if out.Message == "" && t.Status.LastOperation != nil {
		out.Message = t.Status.LastOperation.Description
	}
	return out
}
