// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
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

var errKilled = errors.New("killed")

// runs is a plan of steps whose process is killed at a chosen action.
type runs struct {
	*operatetest.Cluster

	plan  Plan
	steps []step.Step
	did   []string
	// left is the number of actions until the process is killed, below 0 for never.
	left int
	// lost means that the lock is lost.
	lost bool
}

func newRuns(t *testing.T) *runs {
	t.Helper()
	r := &runs{Cluster: operatetest.NewCluster(t), plan: plainRestore(), left: -1}
	r.plan.Files.Manifest = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: team, name: restore-__POD__}\n"
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
		{After: true, Acts: []step.Action{one("e")}},
	}
	return r
}

// run runs the plan in a new process, which reads the journal that there is.
func (r *runs) run(t *testing.T, undo bool) error {
	t.Helper()
	ctx, kube := t.Context(), r.Client(t)
	j := &Job{Clients: step.Clients{Kube: kube, Namespace: "team", Clock: &operatetest.HastyClock{Time: r.plan.At}}, Logf: func(string, ...any) {}, StillHeld: func() error {
		if r.lost {
			return errors.New("the lock is lost")
		}
		return nil
	}}
	rec, err := Read(ctx, kube, r.plan.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if rec == nil {
		rec = NewRecord(r.plan)
		if err := j.Create(ctx, r.plan, rec, false); err != nil {
			t.Fatal(err)
		}
	}
	if undo {
		return j.Undo(ctx, r.plan, rec, r.steps[:2])
	}
	return j.Run(ctx, r.plan, rec, r.steps)
}

func (r *runs) journal() bool {
	return r.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil
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
	rec, err := Read(t.Context(), r.Client(t), r.plan.Owner)
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
		r.steps[0].Acts = append(r.steps[0].Acts, r.plan.scale(0))
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
		if err := r.run(t, undo); err == nil || !strings.Contains(err.Error(), "was created again since the snapshot restore began, which can be neither continued nor undone: see what is left of it with kubectl etcd sweep -n team") || len(r.did) > 0 {
			t.Errorf("another StatefulSet, undo %t: %v, did %q", undo, err, r.did)
		}
	}
}

// TestUndo: what is undone depends on the steps that have begun. Old data only gets its name again
// while no member runs, and new data is only removed beside old data.
func TestUndo(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.Clients = true
	all := r.steps()
	at := func(id string) int { return slices.IndexFunc(all, func(s step.Step) bool { return s.ID == id }) }
	for _, row := range []struct {
		done int
		want string
	}{
		{0, "Let clients in"},
		{at(tried), "Delete the helper pod, Let clients in"},
		{at(stopped) - 1, "Delete the helper pod, Let clients in"},
		{at(stopped), "Start the members on their old data, Let clients in"},
		{at(helpersRun), "Delete the helper pods, Start the members on their old data, Let clients in"},
		{at(renamed), "Stop all members, Start a helper pod for each member, Give the old data its name again, Delete the helper pods, Start the members on their old data, Let clients in"},
		{at(started), "Stop all members, Start a helper pod for each member, Give the old data its name again, Delete the helper pods, Start the members on their old data, Let clients in"},
		{at(letIn), ""},
	} {
		steps, err := r.Undo(&Record{Done: row.done})
		if (err != nil) != (row.want == "") {
			t.Errorf("%d steps done: %v", row.done, err)
		}
		if got := strings.Join(titles(steps), ", "); got != row.want {
			t.Errorf("%d steps done: %s, want %s", row.done, got, row.want)
		}
	}
}

// TestUndoKeepsNewData: after members have run on it, new data gets another name, since clients may have
// written to it. Before that it is a copy.
func TestUndoKeepsNewData(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	all := r.steps()
	at := func(id string) int { return slices.IndexFunc(all, func(s step.Step) bool { return s.ID == id }) }
	for id, ran := range map[string]bool{renamed: false, started: true} {
		rec := &Record{Done: at(id)}
		steps, err := r.Undo(rec)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, s := range steps {
			fmt.Fprintln(&text, s.Commands(r.Flags))
		}
		if strings.Contains(text.String(), "rm -rf") == ran || strings.Contains(text.String(), ".undone-") != ran || (r.UndoLoses(rec) != "") != ran {
			t.Errorf("%s: %s\n%q", id, text.String(), r.UndoLoses(rec))
		}
	}
}

// TestUndoNewVolumes: once members have new volumes, the old ones don't start beside them. The old data of
// the others got another name before that, and each stop keeps the claims.
func TestUndoNewVolumes(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.DeletesClaims, r.Gone, r.Lost = true, []string{"data-main-1"}, []string{"main-2"}
	all := r.steps()
	aside := false
	for done, s := range all {
		if s.ID == stopped {
			if text := fmt.Sprint(s.Commands(r.Flags)); !strings.Contains(text, `"whenScaled":"Retain"`) {
				t.Errorf("a stop deletes claims: %s", text)
			}
		}
		aside = aside || s.ID == renamed
		begun := (&Record{Done: done}).begun(all)
		news := slices.Contains(begun, replaced) || slices.Contains(begun, claimed)
		if news && !aside {
			t.Errorf("%s: the old data of main-0 has its name while members run on new volumes", s.Title)
		}
		if _, err := r.Undo(&Record{Done: done}); (err != nil) != news {
			t.Errorf("%s: %v", s.Title, err)
		}
	}
	if names := podsOf(r.intact()); !slices.Equal(names, []string{"main-0"}) {
		t.Errorf("intact are %q", names)
	}
}

// TestUndoDruid: the old volumes of druid come back until their claims are deleted.
func TestUndoDruid(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	all := r.steps()
	for done, s := range all {
		steps, err := r.Undo(&Record{Done: done})
		begun := (&Record{Done: done}).begun(all)
		if removed := slices.Contains(begun, removed); (err != nil) != removed {
			t.Errorf("%s is next: %v", s.Title, err)
			continue
		}
		text := fmt.Sprint(titles(steps))
		if err == nil && strings.Contains(text, "Resume") != slices.Contains(begun, suspended) {
			t.Errorf("%s is next: %s", s.Title, text)
		}
	}
}

// TestRecord: a record keeps what the steps change, and the owner as it was.
func TestRecord(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	r.Owner.Replicas, r.Owner.Annotations = 3, map[string]string{unprotection: "theirs", "other": "stays"}
	rec := NewRecord(r)
	now := r.Owner
	now.Replicas, now.Annotations = 0, map[string]string{"other": "stays", unprotection: "", "druid.gardener.cloud/suspend-etcd-spec-reconcile": ""}
	was := rec.before(now)
	if was.Replicas != 3 || was.Annotations[unprotection] != "theirs" || was.Annotations["other"] != "stays" || len(was.Annotations) != 2 {
		t.Errorf("the owner was %d replicas with %v", was.Replicas, was.Annotations)
	}
}
