// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// unreachableError is a sidecar that can't be asked, which says nothing of backups.
type unreachableError struct{ err error }

func (u *unreachableError) Error() string { return u.err.Error() }
func (u *unreachableError) Unwrap() error { return u.err }

func unreachable(err error) bool { return app.Is[*unreachableError](err) || apierrors.IsForbidden(err) }

// backupRestore is the way to the sidecars, the one of etcd's leader first: it
// alone takes snapshots, and the others would only pass the question on.
func backupRestore(ctx context.Context, e *app.App, c *app.Cluster, store observe.BackupStore) (*etcd.BackupRestore, error) {
	pods, err := c.Reader.MemberPods(ctx, c.Owner)
	if err != nil {
		return nil, err
	}
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	br := &etcd.BackupRestore{Tunnel: tunnel.New(config), Namespace: c.Namespace, Port: store.Port}
	for _, p := range pods {
		br.Pods = append(br.Pods, p.Name)
	}
	if leader := leaderPod(ctx, c); leader != "" {
		br.Pods = append([]string{leader}, slices.DeleteFunc(br.Pods, func(p string) bool { return p == leader })...)
	}
	if !store.TLS {
		return br, nil
	}
	if store.CAErr != nil {
		return nil, &unreachableError{fmt.Errorf("trust backup-restore of %s: %w", c.Owner, store.CAErr)}
	}
	br.TLS, err = etcd.BackupTLS(store.CA, store.ServerName)
	return br, err
}

// leaderPod is the pod of etcd's leader, empty where nobody tells.
func leaderPod(ctx context.Context, c *app.Cluster) string {
	if c.Members == nil {
		return ""
	}
	survey, err := c.Members.Survey(ctx)
	if leader, ok := survey.Leader(); err == nil && ok {
		return leader.Pod
	}
	return ""
}

func storeObject(s observe.BackupStore) *v1alpha1.SnapshotStore {
	return &v1alpha1.SnapshotStore{Provider: s.Provider, Container: s.Container, Prefix: s.Prefix}
}

func storedObject(s etcd.StoredSnapshot) v1alpha1.StoredSnapshot {
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
