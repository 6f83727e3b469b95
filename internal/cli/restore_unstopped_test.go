// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// The commands that continue a recovery from the member main-0, and the one that ends it.
var (
	recovers = verb{path: "recover", args: "statefulset/main --lost main-1,main-2 --tool ETCDUTL --save-to SNAPSHOT"}
	restores = verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	aborts   = verb{path: "snapshot restore", args: "statefulset/main --abort"}
)

// unfinishedRecovery puts the journal of a recovery with some steps done. Before its fifth, it stops no member.
func (w *world) unfinishedRecovery(done int) {
	w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"bump":1000000000,"newest":1000,"revision":1000,"survivor":"main-0","lost":["main-1","main-2"],"clients":true,"done":%d,"firstStop":4}`,
		sha256.Sum256(w.Etcd.Database), done))
}

// untouched checks that a command was refused with the way to end the restore, that no member was stopped, and that this
// way works.
func (w *world) untouched(t *testing.T, code int, wants ...string) {
	t.Helper()
	text := w.err.String()
	for _, want := range append(wants, "It has stopped no member. End it, ", " -n team snapshot restore statefulset/main --abort") {
		if code != 2 || !strings.Contains(text, want) {
			t.Errorf("exit code %d, and it lacks %q:\n%s", code, want, text)
		}
	}
	sts := w.Get(operatetest.Path("StatefulSet", "main"))
	if replicas := operatetest.Field(sts, "spec")["replicas"]; fmt.Sprint(replicas) != "3" || len(operatetest.Field(sts, "metadata", "annotations")) > 0 {
		t.Errorf("%v replicas, annotations %v", replicas, operatetest.Field(sts, "metadata", "annotations"))
	}
	w.err.Reset()
	if code := w.run(t.Context(), aborts, "-y"); code != 0 || w.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil || isCut(w) {
		t.Errorf("--abort: exit code %d:\n%s", code, &w.err)
	}
}

// TestRecoverReturned: a recovery that was interrupted before it stopped members does not go on after they came back.
func TestRecoverReturned(t *testing.T) {
	t.Parallel()
	for _, v := range []verb{recovers, restores} {
		for _, flags := range []string{"-y", "--dry-run=client"} {
			w := newWorld(t, recovers)
			w.unfinishedRecovery(3)
			before := w.state()
			code := w.run(t.Context(), v, flags)
			if w.state() != before {
				t.Errorf("%s %s: something was written", v.path, flags)
			}
			w.untouched(t, code, "3 of 3 voters healthy")
		}
	}
}

// TestRecoverReturnsLate: members that come back while client traffic is cut, the last step before they would stop, are not
// stopped.
func TestRecoverReturnsLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, recovers)
	w.fallen()
	w.unfinishedRecovery(4)
	var once sync.Once
	w.Refuse = func(method, path string) int {
		if method == "PATCH" && path == operatetest.Path("Service", "main") {
			once.Do(func() {
				w.Etcd.Start(t, "main-1")
				w.Etcd.Start(t, "main-2")
			})
		}
		return 0
	}
	w.untouched(t, w.run(t.Context(), recovers, "-y"), "3 of 3 voters healthy")
}

// TestRestoreContinuedLoss: a restore that continues before it stopped members shows what is lost by now, and goes on when
// the cluster has only written more.
func TestRestoreContinuedLoss(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, record string
		code         int
		want         string
	}{
		{"more writes", `"answers":true,"led":true,"newest":3,"loss":"2 revisions are lost"`, 0, "before the restore, the members reported revision 1000"},
		{"the quorum is back", `"answers":true,"newest":3`, 2, "the members have a quorum again, and had none when the restore began. It has stopped no member. End it"},
		{"members were silent", ``, 2, "the members have a quorum again"},
	} {
		w := newWorld(t, restores)
		if row.record != "" {
			row.record += ","
		}
		w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"revision":1,%s"done":2,"firstStop":5}`, sha256.Sum256(w.Etcd.Database), row.record))
		if code := w.run(t.Context(), restores, "--dry-run=client", "--bump-revision", "0"); code != row.code || !strings.Contains(w.err.String(), row.want) || strings.Contains(w.err.String(), "2 revisions are lost") {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", row.name, code, row.code, row.want, &w.err)
		}
	}
}

// TestRecoverSurvivorSilent: the survivor, whose data is saved, need not answer when the recovery continues.
func TestRecoverSurvivorSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, recovers)
	w.fallen()
	w.Etcd.Stop("main-0")
	w.unfinishedRecovery(3)
	if code := w.run(t.Context(), recovers, "--dry-run=client"); code != 0 {
		t.Errorf("exit code %d: %s", code, &w.err)
	}
}

// TestRecoverStartedAgain: a recovery that has stopped the members does not stop them again after another client has
// started them, and their quorum is back. --abort ends it.
func TestRecoverStartedAgain(t *testing.T) {
	t.Parallel()
	for _, v := range []verb{recovers, restores} {
		w := newWorld(t, recovers)
		w.unfinishedRecovery(5)
		metadata := operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "metadata")
		metadata["annotations"] = apitest.Object{v1alpha1.RestoreAnnotation: "2026-01-01T00:00:00Z 3"}
		before := w.state()
		code, text := w.run(t.Context(), v, "-y"), w.err.String()
		for _, want := range []string{"3 of 3 voters healthy", "It has changed no data, and another client set the replicas of StatefulSet team/main to 3. End it", " -n team snapshot restore statefulset/main --abort"} {
			if code != 2 || !strings.Contains(text, want) || w.state() != before {
				t.Errorf("%s: exit code %d, lacks %q, or something was written:\n%s", v.path, code, want, text)
			}
		}
		w.err.Reset()
		if code := w.run(t.Context(), aborts, "-y"); code != 0 || w.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil || isCut(w) {
			t.Errorf("--abort: exit code %d:\n%s", code, &w.err)
		}
	}
}

// TestRestoreStartedAgain: a restore whose members another client has started before it changed data shows what is lost by
// now, and saves the present data again before it stops them.
func TestRestoreStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, restores)
	w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"revision":1,"answers":true,"led":true,"newest":3,"loss":"2 revisions are lost","done":6,"firstStop":5,"firstTouch":7}`, sha256.Sum256(w.Etcd.Database)))
	metadata := operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "metadata")
	metadata["annotations"] = apitest.Object{v1alpha1.RestoreAnnotation: "2026-01-01T00:00:00Z 3"}
	code, text := w.run(t.Context(), restores, "--dry-run=client", "--bump-revision", "0"), w.err.String()
	for _, want := range []string{
		"before the restore, the members reported revision 1000", "4 of 14 steps are done", "Save the present data", "Stop all members",
		"another client set the replicas of StatefulSet team/main to 3 since the restore stopped the members: they stop again, and what they have now is replaced.",
	} {
		if code != 0 || !strings.Contains(text, want) || strings.Contains(text, "2 revisions are lost") {
			t.Errorf("exit code %d, lacks %q:\n%s", code, want, text)
		}
	}
}
