// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// namesOf returns the names of a cluster's snapshots.
func namesOf(o owner.Owner) backup.Names {
	return backup.Names{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}
}

// toURL saves the snapshot to the store of a URL, renews the lease, and then deletes snapshots that are too many.
func (s *saver) toURL(ctx context.Context, cmd *cobra.Command, l blob.Location, o saveOptions) error {
	names := namesOf(s.Owner)
	if l.Name == "" {
		l = l.At(names.At(s.Started))
	}
	if err := s.requireLease(ctx, o.lease); err != nil {
		return err
	}
	store, err := blob.Open(ctx, l)
	if err != nil {
		return err
	}
	defer store.Close()
	if o.keep > 0 {
		s.removeAbandoned(l, names)
	}
	out, err := s.store(ctx, store, l, o.force)
	if err != nil {
		return err
	}
	if err := s.print(cmd, out); err != nil {
		return err
	}
	if o.lease != "" {
		if err := backup.Renew(ctx, s.cluster.Kube, s.Owner.Namespace, o.lease, s.Started, out.Revision); err != nil {
			return fmt.Errorf("the snapshot is stored, but not recorded: %w", err)
		}
	}
	if o.keep == 0 {
		return nil
	}
	deleted, err := backup.Prune(ctx, store, names, out, l.Name, o.keep, s.app.Warn)
	for _, name := range deleted {
		s.app.Step("Deleted %s", l.At(name))
	}
	if err != nil {
		return app.Incomplete("the new snapshot is stored, but old ones stay: %v", err)
	}
	return nil
}

// requireLease returns an error if the user may not renew a Lease: the whole transfer would be in vain. A Lease that does
// not exist is no reason to take no backup.
func (s *saver) requireLease(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	patch := operate.NeedIn(s.Owner.Namespace)("patch", "coordination.k8s.io", "leases", "", name)
	return change.RequireOnly(ctx, s.app, s.cluster.Kube, []operate.Need{patch})
}

// removeAbandoned removes what killed jobs have left in a directory, before it has no space for the new snapshot.
func (s *saver) removeAbandoned(l blob.Location, names backup.Names) {
	file, ok := l.File()
	if !ok {
		return
	}
	dir := filepath.Dir(file)
	removed, err := snapshot.RemoveAbandoned(dir, func(name string) bool {
		_, ours := names.Time(name)
		return ours
	})
	for _, name := range removed {
		s.app.Step("Deleted %s, which a killed job had left", filepath.Join(dir, name))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a save creates the directory
		s.app.Warn("A killed job has left files in %s that stay: %v.", dir, err)
	}
}

// store writes the snapshot and its description. A directory gets the files directly, because the saver
// verifies them there. For a bucket, it verifies them in a temporary directory first.
func (s *saver) store(ctx context.Context, store *blob.Store, l blob.Location, force bool) (*v1alpha1.Snapshot, error) {
	if file, ok := l.File(); ok {
		return s.ToFile(ctx, file, l.String(), force)
	}
	if !force {
		if err := store.CheckNew(ctx, l.Name); err != nil {
			return nil, existing(err)
		}
	}
	dir, err := os.MkdirTemp("", "kubectl-etcd-snapshot-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory for the snapshot: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, l.Name)
	out, err := s.ToFile(ctx, file, l.String(), false)
	if err != nil {
		return nil, err
	}
	s.app.Notef("Uploading to %s", l)
	if err := upload(ctx, s, store, l.Name, file, force); err != nil {
		return nil, existing(err)
	}
	record, err := os.ReadFile(file + blob.RecordSuffix) //nolint:gosec // this command's own file
	if err == nil {
		err = store.WriteSmall(ctx, l.Name+blob.RecordSuffix, record)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is stored and verified, but its description is not: %w", l, err)
	}
	return out, nil
}

func existing(err error) error {
	if errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("%w: choose another name, or use --force to replace it", err)
	}
	return err
}

// upload stores a file with a bar of progress.
func upload(ctx context.Context, s *saver, store *blob.Store, name, file string, force bool) error {
	ctx, end := transfer(ctx, s.app, "upload")
	defer end()
	return store.Upload(ctx, name, file, force)
}
