// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// TestRestoreSilent: a restore into a cluster whose members run and don't answer is refused after several tries, unless
// the user allows it. Then a warning shows what is not saved.
func TestRestoreSilent(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL", set: func(w *world) {
		for pod := range strings.FieldsSeq("main-0 main-1 main-2") {
			w.Etcd.Stop(pod)
		}
	}}
	plan := restore
	plan.path, plan.args = "snapshot restore-plan", "SNAPSHOT statefulset/main"
	for _, row := range []struct {
		verb
		flags, text string
		code        int
	}{
		{restore, "--dry-run=client", "refused: cannot restore StatefulSet team/main: main-0, main-1 and main-2 run, and no member that could provide its data answers", 2},
		{restore, "-y", "add --allow-unsaved: only the old volumes have the present data then", 2},
		{restore, "--dry-run=client --allow-unsaved", "Warning: the present data is not saved, because main-0, main-1 and main-2 run and do not answer", 0},
		{plan, "", "add --allow-unsaved", 2},
		{plan, "--allow-unsaved", "", 0},
	} {
		t.Run(row.path+" "+row.flags, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, restore)
			before := w.state()
			if code := w.run(t.Context(), row.verb, strings.Fields(row.flags)...); code != row.code || w.state() != before {
				t.Errorf("exit code %d, want %d", code, row.code)
			}
			if text := w.err.String(); !strings.Contains(text, row.text) || !strings.Contains(text, "They are asked again, for 30s") {
				t.Errorf("no %q in\n%s", row.text, text)
			}
		})
	}
}

// TestRestoreDenied: that etcd refuses its user is known before a restore begins, and snapshot save asks no other member.
func TestRestoreDenied(t *testing.T) {
	t.Parallel()
	const text = "etcd has no user with the name in the client certificate; set others with --etcd-user, or a Secret with them with --user-secret"
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL", set: func(w *world) { w.Etcd.NoUser = rpctypes.ErrGRPCUserNotFound }}
	for _, row := range []struct {
		verb
		flags string
		code  int
	}{
		{restore, "-y", 2},
		{restore, "--dry-run=client", 2},
		{verb{path: "snapshot save", args: "statefulset/main SURVIVOR"}, "", 1},
	} {
		w := newWorld(t, restore)
		before := w.state()
		if code := w.run(t.Context(), row.verb, strings.Fields(row.flags)...); code != row.code || w.state() != before {
			t.Errorf("%s %s: exit code %d, want %d", row.path, row.flags, code, row.code)
		}
		if got := w.err.String(); !strings.Contains(got, text) || strings.Contains(got, "Trying again") || strings.Contains(got, "attempts") {
			t.Errorf("%s %s: no %q in\n%s", row.path, row.flags, text, got)
		}
	}
}

// TestRestoreOpens: a snapshot without authentication is not restored unnoticed into a cluster that has it.
func TestRestoreOpens(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	for auth, want := range map[bool]bool{true: true, false: false} {
		w := newWorld(t, restore)
		w.Etcd.Auth = auth
		if code := w.run(t.Context(), restore, "--dry-run=client"); code != 0 {
			t.Errorf("exit code %d:\n%s", code, &w.err)
		}
		if warned := strings.Contains(w.err.String(), "Warning: authentication is on now, and off in the snapshot"); warned != want || strings.Contains(w.err.String(), "not known whether it is on") {
			t.Errorf("authentication %t:\n%s", auth, &w.err)
		}
	}
}

// TestRestoreOtherFile: the refusal of another file than that of the unfinished restore names the ways.
func TestRestoreOtherFile(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	w := newWorld(t, restore)
	w.unfinishedCut("snapshot restore", `{"sha256":"00","at":"2026-01-01T00:00:00Z","size":3,"replicas":3}`)
	code := w.run(t.Context(), restore, "-y")
	for _, want := range []string{"is not the snapshot of the unfinished restore", "begun at 2026-01-01T00:00:00Z", "continue it with its own file, or undo it with kubectl etcd", "snapshot restore statefulset/main --abort"} {
		if !strings.Contains(w.err.String(), want) {
			t.Errorf("exit code %d: no %q in\n%s", code, want, &w.err)
		}
	}
}

// TestRestoreOtherCluster: -y does not confirm the snapshot of another cluster.
func TestRestoreOtherCluster(t *testing.T) {
	t.Parallel()
	const warning = "Warning: the snapshot is of another cluster, as the file beside it shows: StatefulSet away/b1 (cluster ID f0d7)"
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	for _, row := range []struct {
		cluster, flags, text string
		warned               bool
	}{
		{"away/b1", "--dry-run=client", "Nothing was changed", true},
		{"away/b1", "", "there is no terminal to ask for confirmation, and the snapshot is of another cluster, StatefulSet away/b1 (cluster ID f0d7): with -y, add --from-other-cluster", true},
		{"away/b1", "-y", "refused: the snapshot is of another cluster, StatefulSet away/b1 (cluster ID f0d7): with -y, add --from-other-cluster to restore it into StatefulSet team/main", true},
		{"away/b1", "--from-other-cluster --dry-run=server -y", "The rules and the API server allow it", true},
		{"team/main", "--dry-run=client", "the snapshot may be of another etcd cluster: the record beside it has cluster ID f0d7", false},
		{"team/main", "--dry-run=client", "Nothing was changed", false},
	} {
		w := newWorld(t, restore)
		namespace, name, _ := strings.Cut(row.cluster, "/")
		record := fmt.Sprintf(`{"sha256":"%x","origin":{"cluster":{"kind":"StatefulSet","namespace":%q,"name":%q},"clusterID":"f0d7"}}`, sha256.Sum256(w.Etcd.Database), namespace, name)
		if err := os.WriteFile(filepath.Join(filepath.Dir(w.config), "SNAPSHOT.json"), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		w.run(t.Context(), restore, strings.Fields(row.flags)...)
		if got := w.err.String(); !strings.Contains(got, row.text) || strings.Contains(got, warning) != row.warned {
			t.Errorf("%s %s:\n%s", row.cluster, row.flags, got)
		}
	}
}
