// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCommitOutlastsReader checks that commit waits for a reader that releases its lock late,
// for example since a child process has inherited its file.
func TestCommitOutlastsReader(t *testing.T) {
	t.Parallel()
	final := filepath.Join(t.TempDir(), "main.db")
	part, err := createPart(final, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := part.share(); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(part.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := lockFile(reader, false); err != nil {
		t.Fatal(err)
	}
	gone := time.AfterFunc(100*time.Millisecond, func() { _ = reader.Close() })
	defer gone.Stop()
	if err := part.commit(false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(final); err != nil {
		t.Error(err)
	}
}
