// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// markedSet returns a StatefulSet that a restore has stopped, and that has replicas again.
func markedSet(replicas int32) *appsv1.StatefulSet {
	sts := &appsv1.StatefulSet{}
	sts.Namespace, sts.Name, sts.Spec.Replicas = "team", "main", new(replicas)
	sts.Annotations = map[string]string{v1alpha1.RestoreAnnotation: "2026-01-01T00:00:00Z 3"}
	return sts
}

// TestReturned has, for each step that an interrupted restore has to do next, what becomes of it when another client has
// started the members: "asks" judges it again and asks for the name, since members run on all their data. "undo" and "save"
// refuse it, with that way. Other steps don't stop members again, or the restore has started the members itself.
func TestReturned(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		plan Plan
		want string
	}{
		"plain":              {plainRestore(), "asks asks asks asks asks asks undo undo"},
		"lost":               {changed(plainRestore(), func(r *Plan) { r.Lost = []string{"main-1"} }), "asks asks asks asks asks asks undo undo save - - save save save"},
		"gone":               {changed(plainRestore(), func(r *Plan) { r.Gone = []string{"data-main-0", "data-main-1", "data-main-2"} }), "asks asks asks asks asks - - save save save"},
		"one by one":         {changed(plainRestore(), func(r *Plan) { r.OneByOne = true }), "asks asks asks asks asks asks undo undo undo undo"},
		"fewer":              {changed(plainRestore(), func(r *Plan) { r.Members, r.OldSize = r.Members[:1], 3 }), "asks asks asks asks asks asks undo undo undo undo"},
		"druid":              {druidRestore(), "asks asks asks asks asks undo save"},
		"store of the nodes": {changed(druidRestore(), func(r *Plan) { r.Druid.StorePod, r.Druid.StoreDir = "kind: Pod\n", "/bucket/v2" }), "asks asks asks asks asks undo save"},
	} {
		steps, got := row.plan.steps(), []string{}
		for done := range steps {
			r, rec := row.plan, NewRecord(row.plan)
			rec.Done = done
			r.findReturned(rec, markedSet(3))
			does, err := "-", r.MayContinue(rec)
			if (r.Starter != "") != (done > firstStop(steps)) {
				t.Errorf("%s, %q is next: the client that set the replicas is %q", name, steps[done].Title, r.Starter)
			}
			switch {
			case r.Unstopped:
				does = "asks"
				wantAsked(t, fmt.Sprintf("%s, %q is next", name, steps[done].Title), r, rec, firstStop(steps))
			case err == nil:
			case strings.Contains(err.Error(), "statefulset/main --abort") || strings.Contains(err.Error(), "etcd/main --abort"):
				does = "undo"
				wantUndone(t, fmt.Sprintf("%s, %q is next", name, steps[done].Title), r, rec)
			case strings.Contains(err.Error(), "set the replicas to 0, and repeat the command"):
				does = "save"
			}
			if err != nil && (r.Unstopped || !strings.Contains(err.Error(), "another client set the replicas of StatefulSet team/main to 3 since the restore stopped the members")) {
				t.Errorf("%s, %q is next: %v", name, steps[done].Title, err)
			}
			got = append(got, does)
			if r.findReturned(rec, markedSet(0)); r.Returned || r.Unstopped {
				t.Errorf("%s, %q is next: members run of a StatefulSet without replicas", name, steps[done].Title)
			}
			wantUnstopped(t, fmt.Sprintf("%s, %q is next", name, steps[done].Title), rec, does == "asks")
		}
		if text := strings.TrimRight(strings.Join(got, " "), " -"); text != row.want {
			t.Errorf("%s: %s, want %s", name, text, row.want)
		}
	}
}

// wantUndone checks that a restore can be undone.
func wantUndone(t *testing.T, name string, r Plan, rec *progress.Record) {
	t.Helper()
	if _, err := r.Undo(rec); err != nil {
		t.Errorf("%s: it can't be undone: %v", name, err)
	}
}

// wantAsked checks that the restore asks for the name of the cluster, and judges again before its first stop.
func wantAsked(t *testing.T, name string, r Plan, rec *progress.Record, stop int) {
	t.Helper()
	if p := r.ProposeRest(rec, nil, false); p.Typed != "main" || rec.Done > stop != (len(p.Warnings) > 0) {
		t.Errorf("%s: typed %q, warnings %q", name, p.Typed, p.Warnings)
	}
	if redone := r.Redone(rec); redone > stop {
		t.Errorf("%s: %d steps count as done, so nothing is judged before the stop", name, redone)
	}
}

// wantUnstopped checks that the journal alone shows beside the StatefulSet that members run on all their data.
func wantUnstopped(t *testing.T, name string, payload any, want bool) {
	t.Helper()
	text, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	if got := Unstopped(&journal.Journal{Kind: journal.KindRestore, Payload: text}, markedSet(3)); got != want {
		t.Errorf("%s: the journal shows %t", name, got)
	}
}

// TestReturnedStored: what is printed about members of an Etcd that another client has started is true: an undoing stops none
// and renames nothing, and the only member may have the snapshot's data by then.
func TestReturnedStored(t *testing.T) {
	t.Parallel()
	for size, deleted := range map[int]bool{1: true, 3: false} {
		r := changed(druidRestore(), func(r *Plan) { r.Members = r.Members[:size] })
		rec := NewRecord(r)
		rec.Done = firstTouch(r.steps())
		if lost := r.UndoLoses(rec); lost != "" {
			t.Errorf("%d: no other client has started members: %s", size, lost)
		}
		r.findReturned(rec, markedSet(3))
		err, text := r.MayContinue(rec), r.UndoLoses(rec)
		if err == nil || strings.Contains(err.Error(), "another name") || !strings.Contains(err.Error(), "The members keep what they have: kubectl etcd") {
			t.Errorf("%d: %v", size, err)
		}
		if !strings.Contains(text, "They keep what they have") || strings.Contains(text, "old data is deleted") != deleted {
			t.Errorf("%d: %s", size, text)
		}
		if done := r.Undone(rec); !strings.HasPrefix(done, "the members go on with the data that they have. Members may have run") {
			t.Errorf("%d: %s", size, done)
		}
	}
}
