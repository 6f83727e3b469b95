// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// TestSameLost: a member can't become lost while a recovery continues.
func TestSameLost(t *testing.T) {
	t.Parallel()
	rec := &progress.Record{Lost: []string{"main-1", "main-2"}}
	for lost, want := range map[string]string{"": "", "main-2 main-1": "", "main-1": "", "main-0": "without --lost main-0", "main-1 main-0": "without --lost main-0"} {
		if err := SameLost(owner.Owner{}, rec, strings.Fields(lost)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lost, err, want)
		}
	}
}

// TestFileOf: a file that is named is used, or refused by its name.
func TestFileOf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mine.db")
	if err := os.WriteFile(file, []byte("no snapshot"), 0o600); err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]string{file: file + " doesn't have its snapshot", "": "the current directory doesn't have its snapshot"} {
		if _, err := FileOf(t.Context(), owner.Owner{}, &progress.Record{SHA256: "1"}, named); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", named, err)
		}
	}
}
