// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

// TestFromDatabase: the file of a stopped etcd becomes a snapshot with a hash, and no file is replaced.
func TestFromDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, file := filepath.Join(dir, "db"), filepath.Join(dir, "main.db")
	content := database(t)
	if err := os.WriteFile(db, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := FromDatabase(t.Context(), "main-0", db, file, describePod)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	end := len(saved) - hashSize
	if sum := sha256.Sum256(saved[:end]); !bytes.Equal(saved[end:], sum[:]) || sum != got.SHA256 || got.Size != int64(len(saved)) || got.Pod != "main-0" {
		t.Errorf("%+v of %d bytes", got, len(saved))
	}
	read, err := Inspect(t.Context(), file)
	if err != nil || !read.Hashed || read.Revision == 0 || read.Revision != got.Content.Revision {
		t.Errorf("%+v: %v", read, err)
	}
	if _, err := FromDatabase(t.Context(), "main-0", db, file, describePod); err == nil {
		t.Error("it replaces a file")
	}
}

// TestFromDamagedDatabase: a damaged file becomes no snapshot, and leaves nothing.
func TestFromDamagedDatabase(t *testing.T) {
	t.Parallel()
	dir, content := t.TempDir(), database(t)
	db := filepath.Join(dir, "db")
	for at := range content {
		content[at] ^= 0xff
	}
	if err := os.WriteFile(db, content, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "damaged.db")
	if _, err := FromDatabase(t.Context(), "main-0", db, damaged, describePod); err == nil {
		t.Error("a damaged database becomes a snapshot")
	}
	left, err := filepath.Glob(damaged + "*")
	if err != nil || len(left) > 0 {
		t.Errorf("it leaves %q: %v", left, err)
	}
}

func describePod(s Saved) ([]byte, error) { return []byte(s.Pod), nil }
