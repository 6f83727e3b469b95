// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestFetch: a copy is only used if it is what the volume has. A file that changes meanwhile is copied again, and one that
// changes all the time is an error. The commands of the pod run on this machine.
func TestFetch(t *testing.T) {
	t.Parallel()
	for changes, want := range map[int]string{0: "", 2: "", fetchTries: "main-0 may still write"} {
		volume := t.TempDir()
		db := filepath.Join(volume, "member", "snap", "db")
		if err := os.MkdirAll(filepath.Dir(db), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(db, []byte("data"), 0o600); err != nil {
			t.Fatal(err)
		}
		left := changes
		s := Saver{Clients: step.Clients{Exec: func(ctx context.Context, _ string, command []string, _ io.Reader, out io.Writer) error {
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			cmd.Stdout = out
			err := cmd.Run()
			if command[0] == "tar" && left > 0 {
				left--
				return os.WriteFile(db, []byte(strings.Repeat("x", left+1)), 0o600)
			}
			return err
		}}}
		to := filepath.Join(t.TempDir(), "data")
		err := s.fetch(t.Context(), "main-0", step.FetchDir{Pod: "main-0-x", From: volume, What: "member/snap", To: to})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d changes: %v, want %q", changes, err, want)
		}
		if want != "" {
			continue
		}
		have, err := os.ReadFile(filepath.Join(to, "member", "snap", "db"))
		if now, _ := os.ReadFile(db); err != nil || string(have) != string(now) {
			t.Errorf("%d changes: the copy has %q, and the volume %q: %v", changes, have, now, err)
		}
	}
}
