// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// snapshotViaStore has a druid cluster write a snapshot into its backup store.
func snapshotViaStore(cmd *cobra.Command, e *env, target string, via snapshotVia) error {
	ctx := cmd.Context()
	c, _, err := e.clusterAtBest(ctx, target) // who may not ask etcd may still ask for a backup
	if err != nil {
		return err
	}
	defer c.Close()
	store, ok, err := c.reader.BackupStore(ctx, c.Owner)
	switch {
	case err != nil:
		return err
	case c.Flavour != observe.Druid:
		return refused("%s is not etcd-druid's and has no etcd-backup-restore: save to a file instead", c.Owner)
	case !ok:
		return refused("%s has no backup store (spec.backup.store): save to a file instead", c.Owner)
	}
	out := &v1alpha1.SnapshotList{Cluster: clusterReference(c), Store: storeObject(store), Items: []v1alpha1.StoredSnapshot{}}
	if err := e.takeViaStore(ctx, c, store, via, out); err != nil {
		return err
	}
	return e.print(cmd, out, func(w io.Writer, wide bool) error {
		if len(out.Items) == 0 {
			return nil // what is to say has been said
		}
		return e.storedTable(out).write(e, w, wide)
	})
}

// takeViaStore asks the sidecar, which says what it wrote. Where the sidecar can't
// be reached a task of druid's does the same.
func (e *env) takeViaStore(ctx context.Context, c *cluster, store observe.BackupStore, via snapshotVia, out *v1alpha1.SnapshotList) error {
	br, err := e.backupRestore(ctx, c, store)
	if err == nil {
		fmt.Fprintf(e.ErrOut, "Asking backup-restore of %s for a %s snapshot\n", c.Owner, kindOf(via))
		var written *etcd.StoredSnapshot
		if written, err = ask(ctx, br, via); err == nil {
			e.tellWritten(written, store)
			if written != nil {
				out.Items = append(out.Items, storedObject(*written))
			}
			return nil
		}
	}
	if !unreachable(err) {
		return err
	}
	// Who may not list Services is told by the task itself.
	if facts, failed := c.reader.WithoutNodes().Cluster(ctx, c.Owner); failed == nil && facts.TrafficCut {
		return refused("%v; and a task of etcd-druid's reaches backup-restore by the client Service, which is cut: kubectl etcd restore-client-traffic %s -n %s", err, c.Target(), c.Namespace)
	}
	e.warn("%v. Asking etcd-druid for it by a task instead.", err)
	return e.takeByTask(ctx, c, via)
}

func ask(ctx context.Context, br *etcd.BackupRestore, via snapshotVia) (*etcd.StoredSnapshot, error) {
	if via == viaDelta {
		s, wrote, err := br.Delta(ctx)
		if !wrote {
			return nil, err
		}
		return &s, err
	}
	s, err := br.Full(ctx)
	return &s, err
}

func kindOf(via snapshotVia) string {
	if via == viaDelta {
		return "delta"
	}
	return "full"
}

func (e *env) tellWritten(s *etcd.StoredSnapshot, store observe.BackupStore) {
	if s == nil {
		e.step("Nothing has changed since the last snapshot: no delta was written")
		return
	}
	e.step("Written to %s store %s: %s, revisions %d to %d", store.Provider, cmp.Or(store.Container, store.Prefix), s.Name, s.StartRevision, s.LastRevision)
}

// unreachableError is a sidecar that can't be asked, which says nothing of backups.
type unreachableError struct{ err error }

func (u *unreachableError) Error() string { return u.err.Error() }
func (u *unreachableError) Unwrap() error { return u.err }

func unreachable(err error) bool { return is[*unreachableError](err) || apierrors.IsForbidden(err) }

// backupRestore is the way to the sidecars, the one of etcd's leader first: it
// alone takes snapshots, and the others would only pass the question on.
func (e *env) backupRestore(ctx context.Context, c *cluster, store observe.BackupStore) (*etcd.BackupRestore, error) {
	pods, err := c.reader.MemberPods(ctx, c.Owner)
	if err != nil {
		return nil, err
	}
	config, err := e.config()
	if err != nil {
		return nil, err
	}
	br := &etcd.BackupRestore{Tunnel: etcd.NewTunnel(config), Namespace: c.Namespace, Port: store.Port}
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
func leaderPod(ctx context.Context, c *cluster) string {
	if c.members == nil {
		return ""
	}
	survey, err := c.members.Survey(ctx)
	if at := slices.IndexFunc(survey.Members, func(m etcd.Member) bool { return m.Leader }); err == nil && at >= 0 {
		return survey.Members[at].Pod
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
