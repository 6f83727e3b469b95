// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// act is an action that only records that it was done. It fails when fail returns an error.
type act struct {
	name string
	did  *[]string
	fail func() error
}

func (a act) Command(step.Flags) string { return a.name }

func (a act) Do(context.Context, step.Clients) error {
	*a.did = append(*a.did, a.name)
	return a.fail()
}

// owned is the owner of a restore that began at a time.
var (
	owned = owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: flavour.Plain, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}
	began = time.Date(2026, 1, 1, 7, 0, 0, 0, time.UTC)
)

var errKilled = errors.New("killed")

// runs is a plan of steps whose process is killed at a chosen action.
type runs struct {
	*operatetest.Cluster

	owner owner.Owner
	steps []step.Step
	// scale is a change of its own that follows, if a test adds it.
	scale step.Step
	did   []string
	// left is the number of actions until the process is killed, below 0 for never.
	left int
	// lost means that the lock is lost.
	lost bool
	// beforeStop is BeforeStop, nil for none.
	beforeStop func(*Record) error
	// removed are the calls of RemoveLocal, each true if there was a journal.
	removed []bool
}

func newRuns(t *testing.T) *runs {
	t.Helper()
	r := &runs{Cluster: operatetest.NewCluster(t), owner: owned, left: -1}
	one := func(name string) step.Action {
		return act{name, &r.did, func() error {
			if r.left--; r.left == -1 {
				return errKilled
			}
			return nil
		}}
	}
	r.steps = []step.Step{
		{ID: "a", Acts: []step.Action{one("a1"), one("a2")}},
		{ID: "b", Acts: []step.Action{one("b")}},
		{Uses: []string{"a"}, Acts: []step.Action{one("c")}},
		{Title: "nothing to do"},
		{Uses: []string{"b"}, Acts: []step.Action{one("d")}},
		{After: true, Title: "another program scales"},
	}
	r.scale = step.Step{After: true, Acts: []step.Action{one("scale")}}
	return r
}

// run runs the plan in a new process, which reads the journal that there is.
func (r *runs) run(t *testing.T, undo bool) error {
	t.Helper()
	ctx, kube := t.Context(), r.Client(t)
	j := &Job{Clients: step.Clients{Kube: kube, Namespace: "team", Clock: &operatetest.HastyClock{Time: began}}, Logf: func(string, ...any) {}, StillHeld: func() error {
		if r.lost {
			return errors.New("the lock is lost")
		}
		return nil
	}}
	j.RemoveLocal = func() { r.removed = append(r.removed, r.journal()) }
	rec, err := Read(ctx, kube, r.owner)
	if err != nil {
		t.Fatal(err)
	}
	if rec == nil {
		rec = &Record{At: began, Size: 3}
		helpers := []step.CreatePod{{Manifest: "apiVersion: v1\nkind: Pod\nmetadata: {namespace: team, name: restore-main-0}\n"}}
		if err := j.Create(ctx, r.owner, rec, helpers, false); err != nil {
			t.Fatal(err)
		}
	}
	if r.beforeStop != nil {
		j.BeforeStop = func(context.Context) error { return r.beforeStop(rec) }
	}
	if undo {
		return j.Undo(ctx, r.owner, rec, r.steps[:2])
	}
	return j.Run(ctx, r.owner, rec, r.steps)
}

func (r *runs) journal() bool {
	return r.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil
}

// TestRunFinal: the journal has that nothing undoes a restore before the step begins after which that is so.
func TestRunFinal(t *testing.T) {
	t.Parallel()
	for at, want := range []bool{false, false, false, true, true} {
		r := newRuns(t)
		r.steps[2].Final, r.left = true, at
		if err := r.run(t, false); !errors.Is(err, errKilled) {
			t.Fatalf("killed at action %d: %v", at, err)
		}
		rec, err := Read(t.Context(), r.Client(t), r.owner)
		if err != nil || rec.Final != want {
			t.Errorf("killed at action %d: final %t, want %t: %v", at, rec.Final, want, err)
		}
	}
}

// TestRunKilled kills a restore at each action. The next process continues: it does every step that has
// not been done, and repeats those that they use.
func TestRunKilled(t *testing.T) {
	t.Parallel()
	for at, want := range []string{
		"a1 | a1 a2 b c d",
		"a1 a2 | a1 a2 b c d",
		"a1 a2 b | a1 a2 b c d",
		"a1 a2 b c | a1 a2 b c d",
		"a1 a2 b c d | b d",
	} {
		r := newRuns(t)
		r.left = at
		if err := r.run(t, false); !errors.Is(err, errKilled) {
			t.Fatalf("killed at action %d: %v", at, err)
		}
		if !r.journal() {
			t.Fatalf("killed at action %d: there is no journal", at)
		}
		r.did = append(r.did, "|")
		r.left = -1
		if err := r.run(t, false); err != nil {
			t.Errorf("killed at action %d, then %v", at, err)
		}
		// A killed step is repeated by itself, beside the steps that are used.
		if got := strings.Join(slices.Compact(r.did), " "); got != want {
			t.Errorf("killed at action %d: %s, want %s", at, got, want)
		}
		if r.journal() {
			t.Errorf("killed at action %d: the journal is left", at)
		}
		if !slices.Equal(r.removed, []bool{true}) {
			t.Errorf("killed at action %d: local files were removed %v, want once, while there was a journal", at, r.removed)
		}
	}
}

// TestRunUndone: an undoing that is killed goes on when it is run again. The restore itself can't.
func TestRunUndone(t *testing.T) {
	t.Parallel()
	r := newRuns(t)
	r.left = 3
	if err := r.run(t, false); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	r.left = 1
	if err := r.run(t, true); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	rec, err := Read(t.Context(), r.Client(t), r.owner)
	if err != nil || !rec.Undo || rec.Done != 2 {
		t.Fatalf("the record is %+v, %v", rec, err)
	}
	r.left = -1
	if err := r.run(t, true); err != nil || r.journal() {
		t.Errorf("%v, a journal is left: %t", err, r.journal())
	}
}

// TestRunMarked: a restore that is killed leaves its mark on the StatefulSet. Its end removes the mark, and an undoing
// does too, before the journal: without that no command would.
func TestRunMarked(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		r := newRuns(t)
		marked := func() bool {
			annotations := operatetest.Field(r.Get(operatetest.Path("StatefulSet", "main")), "metadata", "annotations")
			return annotations[v1alpha1.RestoreAnnotation] != nil
		}
		r.steps[0].Acts = append(r.steps[0].Acts, step.Scale{StatefulSet: r.owner.StatefulSet, Mark: true})
		r.left = 2
		if err := r.run(t, false); !errors.Is(err, errKilled) || !marked() {
			t.Fatalf("killed: %v, marked: %t", err, marked())
		}
		r.left = -1
		before := len(r.Writes())
		if err := r.run(t, undo); err != nil || marked() || r.journal() {
			t.Errorf("undo %t: %v, marked: %t, a journal is left: %t", undo, err, marked(), r.journal())
		}
		writes := r.Writes()[before:]
		want := []string{"PATCH " + operatetest.Path("StatefulSet", "main"), "DELETE " + operatetest.Path("ConfigMap", "kubectl-etcd-main")}
		if last := writes[max(0, len(writes)-2):]; !slices.Equal(last, want) {
			t.Errorf("undo %t: the last writes are %q, want %q", undo, last, want)
		}
	}
}

// TestRunNotOurs: nothing is done without the lock, or on a StatefulSet that was created again.
func TestRunNotOurs(t *testing.T) {
	t.Parallel()
	r := newRuns(t)
	r.lost = true
	if err := r.run(t, false); err == nil || len(r.did) > 0 {
		t.Errorf("without the lock: %v, did %q", err, r.did)
	}
	r.lost = false
	operatetest.Field(r.Get(operatetest.Path("StatefulSet", "main")), "metadata")["uid"] = "another"
	for _, undo := range []bool{false, true} {
		if err := r.run(t, undo); err == nil || !strings.Contains(err.Error(), "was created again since the snapshot restore began, so it can be neither continued nor undone: see what is left of it with kubectl etcd sweep -n team") || len(r.did) > 0 {
			t.Errorf("another StatefulSet, undo %t: %v, did %q", undo, err, r.did)
		}
	}
}

// TestRunBeforeStop: what may stop a restore is asked directly before the first step that stops members, also by a command
// that continues there, and never again. The record that it changes is written before that step.
func TestRunBeforeStop(t *testing.T) {
	t.Parallel()
	for at, asked := range []int{0, 0, 1, 1, 1} { // how often the first command asks, killed at that action
		r := newRuns(t)
		r.steps[1].ID, r.steps[4].ID = Stopped, Stopped
		r.steps[4].Uses = nil
		r.left = at
		before := 0
		r.beforeStop = func(rec *Record) error {
			before++
			if last := r.did[len(r.did)-1]; last != "a2" {
				t.Errorf("killed at action %d: asked after %s", at, last)
			}
			rec.Newest = 77
			return nil
		}
		if err := r.run(t, false); !errors.Is(err, errKilled) || before != asked {
			t.Fatalf("killed at action %d: asked %d times, want %d: %v", at, before, asked, err)
		}
		rec, err := Read(t.Context(), r.Client(t), r.owner)
		if err != nil || (rec.Newest == 77) != (asked > 0) {
			t.Errorf("killed at action %d: the record has %d: %v", at, rec.Newest, err)
		}
		r.left = -1
		want := before
		if rec.Done <= 1 {
			want++
		}
		if err := r.run(t, false); err != nil || before != want {
			t.Errorf("killed at action %d, continued: asked %d times, want %d: %v", at, before, want, err)
		}
	}
	r := newRuns(t)
	r.steps[1].ID = Stopped
	r.beforeStop = func(*Record) error { return errors.New("they came back") }
	if err := r.run(t, false); err == nil || err.Error() != "they came back" || slices.Contains(r.did, "b") || !r.journal() {
		t.Errorf("%v, did %q", err, r.did)
	}
}

// TestUndoneUnmarked: an undoing that is killed between the removal of the mark and that of the journal is known to be
// complete, since without the mark it would be refused.
func TestUndoneUnmarked(t *testing.T) {
	t.Parallel()
	r := newRuns(t)
	r.left = 2
	if err := r.run(t, false); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	r.left = -1
	r.Refuse = func(method, path string) int {
		if method == http.MethodDelete && path == operatetest.Path("ConfigMap", "kubectl-etcd-main") {
			return http.StatusInternalServerError
		}
		return 0
	}
	if err := r.run(t, true); err == nil || !r.journal() {
		t.Fatalf("the journal is gone: %v", err)
	}
	if rec, err := Read(t.Context(), r.Client(t), r.owner); err != nil || !rec.Undone {
		t.Errorf("it is not known to be undone: %v", err)
	}
}
