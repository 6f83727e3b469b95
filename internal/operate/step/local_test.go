// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// emptyDatabase writes the database of an etcd without keys.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.db")
	db, err := bbolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range []string{"alarm", "auth", "cluster", "key", "lease", "members", "meta"} {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCheckSnapshotReplaced: a snapshot that was replaced since the plan was made is not the one that the user agreed to.
func TestCheckSnapshotReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check := CheckSnapshot{File: emptyDatabase(t)}
	w.do(t, check) // any hash
	content, err := snapshot.Inspect(t.Context(), check.File)
	if err != nil {
		t.Fatal(err)
	}
	check.SHA256 = content.SHA256
	w.do(t, check)
	check.SHA256[0]++
	wantError(t, check.Do(t.Context(), w.clients), "was replaced since the plan was made")
}
