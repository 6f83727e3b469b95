// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRemoveAbandoned: files of killed saves go. Snapshots, files of others and the file of a save that runs stay.
func TestRemoveAbandoned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a-1.db", "a-1.db.json", "a-2.db.part", "a-2.db.json.part", "b-1.db.part", "a.part.db", ".part", "notes"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "a-4.db.part"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "notes"), filepath.Join(dir, "a-5.db.part")); err != nil {
		t.Fatal(err)
	}
	running, err := createPart(filepath.Join(dir, "a-3.db"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer running.discard()
	removed, err := RemoveAbandoned(dir, func(name string) bool { return strings.HasPrefix(name, "a-") })
	if want := []string{"a-2.db.json.part", "a-2.db.part"}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, %v; want %q", removed, err, want)
	}
	if left := files(t, dir); len(left) != 9 {
		t.Errorf("left %q", left)
	}
	if _, err := RemoveAbandoned(filepath.Join(dir, "none"), nil); !os.IsNotExist(err) {
		t.Errorf("a directory that does not exist: %v", err)
	}
}
