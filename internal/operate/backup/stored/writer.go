// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// Writer stores one snapshot of a cluster.
type Writer struct {
	*backup.Saver
	Reports

	// To is where the snapshot is stored. Without a name, Open gives it that of the time.
	To blob.Location
	// Force replaces a snapshot that exists.
	Force bool
	// Keep is how many snapshots of the cluster stay in the folder, 0 for all.
	Keep int

	store *blob.Store
}

// Open opens the store. The caller closes it.
func (w *Writer) Open(ctx context.Context) error {
	if w.To.Name == "" {
		w.To = w.To.At(NamesOf(w.Owner).At(w.Started))
	}
	var err error
	w.store, err = blob.Open(ctx, w.To)
	return err
}

// Close closes the store.
func (w *Writer) Close() error { return w.store.Close() }

// Save writes the snapshot and its description. A directory gets the files directly, because the saver
// verifies them there. For a bucket, it verifies them in a temporary directory first.
func (w *Writer) Save(ctx context.Context) (*v1alpha1.Snapshot, error) {
	if w.Keep > 0 {
		w.removeAbandoned()
	}
	if file, ok := w.To.File(); ok {
		return w.ToFile(ctx, file, w.To.String(), w.Force)
	}
	if !w.Force {
		if err := w.store.CheckNew(ctx, w.To.Name); err != nil {
			return nil, existing(err)
		}
	}
	dir, err := os.MkdirTemp("", "kubectl-etcd-snapshot-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory for the snapshot: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, w.To.Name)
	out, err := w.ToFile(ctx, file, w.To.String(), false)
	if err != nil {
		return nil, err
	}
	w.Notef("Uploading to %s", w.To)
	if err := w.upload(ctx, file); err != nil {
		return nil, existing(err)
	}
	record, err := os.ReadFile(file + blob.RecordSuffix) //nolint:gosec // this command's own file
	if err == nil {
		err = w.store.WriteSmall(ctx, w.To.Name+blob.RecordSuffix, record)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is stored and verified, but its description is not: %w", w.To, err)
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
func (w *Writer) upload(ctx context.Context, file string) error {
	ctx, end := w.transfer(ctx, "upload")
	defer end()
	return w.store.Upload(ctx, w.To.Name, file, w.Force)
}

// removeAbandoned removes what killed jobs have left in a directory, before it has no space for the new snapshot.
func (w *Writer) removeAbandoned() {
	file, ok := w.To.File()
	if !ok {
		return
	}
	dir, names := filepath.Dir(file), NamesOf(w.Owner)
	removed, err := snapshot.RemoveAbandoned(dir, func(name string) bool {
		_, ours := names.Time(name)
		return ours
	})
	for _, name := range removed {
		w.Logf("Deleted %s, which a killed job had left", filepath.Join(dir, name))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a save creates the directory
		w.Warnf("A killed job has left files in %s that stay: %v.", dir, err)
	}
}

// Prune deletes the snapshots of the cluster that are too many after this one, which is saved.
func (w *Writer) Prune(ctx context.Context, saved *v1alpha1.Snapshot) error {
	if w.Keep == 0 {
		return nil
	}
	deleted, err := Prune(ctx, w.store, NamesOf(w.Owner), saved, w.To.Name, w.Keep, w.Warnf)
	for _, name := range deleted {
		w.Logf("Deleted %s", w.To.At(name))
	}
	return err
}
