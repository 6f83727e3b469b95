// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestSaveTransfersNothingInVain: if the user may not renew the Lease that is to record a backup, nothing is transferred.
func TestSaveTransfersNothingInVain(t *testing.T) {
	t.Parallel()
	const transfer = "snapshot of main-0" // the members of this test have none, so a transfer fails
	for _, row := range []struct {
		name   string
		exists bool
		deny   func(verb, resource string) bool
		want   string
	}{
		{name: "all is there", exists: true, want: transfer},
		{name: "no Lease", want: transfer},
		{name: "no permission", exists: true, deny: func(verb, resource string) bool { return verb == "patch" && resource == "leases" }, want: `verb "patch" on "leases`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			save := verb{path: "snapshot save", args: "statefulset/main file://" + t.TempDir() + "/ --renew-lease main-backup"}
			w := newWorld(t, save)
			if row.exists {
				w.Put(operatetest.Path("Lease", "main-backup"), apitest.Object{
					"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{"namespace": "team", "name": "main-backup"},
				})
			}
			w.Deny = row.deny
			if code := w.run(t.Context(), save); code != 1 || !strings.Contains(w.err.String(), row.want) {
				t.Errorf("exit code %d, want 1 and %q: %s", code, row.want, w.err.String())
			}
			if began := strings.Contains(w.err.String(), transfer); began != (row.want == transfer) {
				t.Errorf("a transfer began: %t: %s", began, w.err.String())
			}
		})
	}
}

// TestSaveFile: a snapshot to a file has nothing to confirm, so that -y changes nothing, and it ends in time as a change does.
func TestSaveFile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		flags, want string
		code        int
	}{
		{"", "Saved and verified", 0},
		{"-y", "Saved and verified", 0},
		{"--dry-run=client", "--dry-run and --reason can only be used with --via", 1},
		{"--timeout 1ns", "timed out: save a snapshot of statefulset/main: ", 124},
		{"-y --timeout 1ns", ": not done within the --timeout of 1ns; run the same command again\n", 124},
	} {
		t.Run(row.flags, func(t *testing.T) {
			t.Parallel()
			save := verb{path: "snapshot save", args: "statefulset/main " + t.TempDir() + "/main.db"}
			w := newWorld(t, save)
			w.snapshot(t)
			if code := w.run(t.Context(), save, strings.Fields(row.flags)...); code != row.code || !strings.Contains(w.err.String(), row.want) {
				t.Errorf("exit code %d, want %d and %q: %s", code, row.code, row.want, w.err.String())
			}
		})
	}
}
