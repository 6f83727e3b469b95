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

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// awaitsScale puts the journal of a restore that has ended, and of which only a scale to some members is left.
func (w *world) awaitsScale(members int) {
	w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":%[2]d,"survivor":"main-0","lost":["main-1","main-2"],"final":true,"done":12},"scaleTo":%[2]d`,
		sha256.Sum256(w.Etcd.Database), members))
	operatetest.Field(w.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")), "metadata")["labels"] = apitest.Object{"app.kubernetes.io/managed-by": "kubectl-etcd"}
}

// left returns the journal of the world, nil for none.
func (w *world) left(t *testing.T) *journal.Journal {
	t.Helper()
	listed, err := journal.List(t.Context(), w.Client(t), "team")
	switch {
	case err != nil || len(listed) > 1 || len(listed) == 1 && listed[0].Err != nil:
		t.Fatalf("%+v, %v", listed, err)
	case len(listed) == 0:
		return nil
	}
	return listed[0].Journal
}

// The commands that a restore prints of which only a scale to 5 members is left.
const (
	addThem  = "kubectl etcd scale statefulset/main --replicas 5 -n team"
	leaveOut = "kubectl etcd scale statefulset/main --abort -n team"
)

// TestAwaitsScale: while only a scale is left of a restore, no other object has the number of members. Each command that
// an unfinished restore refuses is refused, with the command that scales. The same restore goes on with the scale.
func TestAwaitsScale(t *testing.T) {
	t.Parallel()
	ways := []string{"has ended, and members are still to be added: add them with " + addThem + ", or leave them out with " + leaveOut}
	for _, row := range []struct {
		path, args string
		code       int
		want       []string
	}{
		{path: "restart", args: "statefulset/main -y", code: 2, want: ways},
		{path: "defrag", args: "statefulset/main --dry-run=server", want: []string{"The rules and the API server allow it"}},
		{path: "volume grow", args: "statefulset/main --size 20Gi -y", code: 2, want: ways},
		{path: "member replace", args: "statefulset/main main-2 --force -y", code: 2, want: ways},
		{path: "scale", args: "statefulset/main --replicas 7 -y", code: 2, want: ways},
		{path: "scale", args: "statefulset/main --replicas 3 -y", code: 2, want: ways},
		{path: "scale", args: "statefulset/main --replicas 5 --dry-run=client", want: []string{"scale StatefulSet team/main from 3 to 5 members"}},
		{path: "scale", args: "statefulset/main --replicas 5 --dry-run=server", want: []string{"The rules and the API server allow it"}},
		{path: "scale", args: "statefulset/main --abort --dry-run=client", want: []string{"leave StatefulSet team/main with the members that it has", "was to get 5 members"}},
		{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL --dry-run=client", want: []string{"1. Add the other members", "the cluster is to get 5 members"}},
		{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL --replicas 3 -y", code: 2, want: []string{"began with --replicas 5"}},
		{path: "snapshot restore", args: "SURVIVOR statefulset/main -y", code: 2, want: append([]string{"is not the snapshot of the unfinished restore"}, ways...)},
		{path: "snapshot restore", args: "statefulset/main --abort -y", code: 2, want: append([]string{"clients have been let in"}, ways...)},
		{path: "recover", args: "statefulset/main --abort -y", code: 2, want: append([]string{"clients have been let in"}, ways...)},
		{path: "recover", args: "statefulset/main --lost main-1,main-2 --save-to SNAPSHOT --dry-run=client", want: []string{"1. Add the other members"}},
		{path: "recover", args: "statefulset/main --lost main-1,main-2 --save-to missing.db -y", code: 2, want: ways},
		{path: "status", args: "statefulset/main", want: []string{"kubectl etcd snapshot restore (scale to 5 members after the restore)", "scale statefulset/main --replicas 5 -n team"}},
		{path: "diagnose", args: "statefulset/main", code: 3, want: []string{"stopped half-way: scale to 5 members after the restore", "scale statefulset/main --replicas 5 -n team"}},
		{path: "sweep", want: []string{"scale statefulset/main --replicas 5 -n team"}},
	} {
		t.Run(strings.ReplaceAll(row.path+" "+row.args, "/", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, verb{args: "ETCDUTL"})
			other := append([]byte(nil), w.Etcd.Database...)
			other[len(other)/2]++
			if err := os.WriteFile(filepath.Join(filepath.Dir(w.config), "SURVIVOR"), other, 0o600); err != nil {
				t.Fatal(err)
			}
			w.awaitsScale(5)
			before := w.state()
			code := w.run(t.Context(), verb{path: row.path, args: row.args})
			text := withoutGiven(w.err.String() + w.out.String())
			if code != row.code || w.state() != before {
				t.Errorf("exit code %d, want %d, and changed: %t", code, row.code, w.state() != before)
			}
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q", want)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestAwaitsScaleEnds: the printed commands work as they are typed. The scale takes over the journal, which its end
// removes, and a scale with nothing left to do removes it, too.
func TestAwaitsScaleEnds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, args, want string
		to               int
	}{
		{"scale", "statefulset/main --replicas 5", "statefulset/main scaled to 5 members", 5},
		{"nothing left", "statefulset/main --replicas 3", "StatefulSet team/main already has 3 members", 3},
		{"leave", "statefulset/main --abort", "statefulset/main: left with the members that it has", 5},
	} {
		w := newWorld(t, verb{})
		w.startControllers(t)
		w.awaitsScale(row.to)
		code := w.run(t.Context(), verb{path: "scale", args: row.args}, "-y")
		if text := w.out.String() + w.err.String(); code != 0 || !strings.Contains(text, row.want) || w.left(t) != nil {
			t.Errorf("%s: exit code %d, the journal is %+v:\n%s", row.name, code, w.left(t), text)
		}
		if added := len(w.Etcd.Writes()) > 0; added != (row.name == "scale") {
			t.Errorf("%s: etcd was asked for %v", row.name, w.Etcd.Writes())
		}
	}
}

// TestAwaitsScaleRolledBack: a scale that took over and was rolled back after its timeout leaves the number for the next
// one. With --abort, the user gives it up.
func TestAwaitsScaleRolledBack(t *testing.T) {
	t.Parallel()
	for _, abort := range []bool{false, true} {
		w := newWorld(t, verb{})
		w.startControllers(t)
		w.awaitsScale(5)
		w.controllers.lag = true
		w.Etcd.Lag(true)
		v := verb{path: "scale", args: "statefulset/main --replicas 5"}
		if code := w.run(t.Context(), v, "-y", "--timeout", "3s"); code == 0 || !strings.Contains(w.err.String(), "the change was rolled back") {
			t.Fatalf("exit code %d:\n%s", code, &w.err)
		}
		if j := w.left(t); j == nil || j.ScaleTo != 5 {
			t.Fatalf("the journal is %+v", j)
		}
		w.Etcd.Lag(false)
		w.controllers.lag = false
		if abort {
			v.args = "statefulset/main --abort"
		}
		if code := w.run(t.Context(), v, "-y"); code != 0 || w.left(t) != nil {
			t.Errorf("abort %t: exit code %d, the journal is %+v:\n%s", abort, code, w.left(t), &w.err)
		}
	}
}

// TestAwaitsScaleForged: every user who may write ConfigMaps may write the number. While the StatefulSet has the mark of
// the restore, it counts as unfinished.
func TestAwaitsScaleForged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, verb{})
	w.awaitsScale(5)
	sts := w.Get(operatetest.Path("StatefulSet", "main"))
	operatetest.Field(sts, "metadata")["annotations"] = map[string]any{"kubectl-etcd.dev/restore": "2026-01-01T00:00:00Z 3"}
	for _, args := range []string{"statefulset/main --replicas 5", "statefulset/main --abort"} {
		before := w.state()
		if code := w.run(t.Context(), verb{path: "scale", args: args}, "-y"); code != 2 || w.state() != before {
			t.Errorf("scale %s: exit code %d:\n%s", args, code, &w.err)
		}
	}
}
