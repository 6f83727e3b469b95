// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// TestMayStillStop: a restore that has stopped no member ends when the members came back, or have what the user did not
// agree to lose. More writes of a cluster with a quorum are no reason.
func TestMayStillStop(t *testing.T) {
	t.Parallel()
	led := func(r *Plan) { r.Answers, r.Led, r.Newest = true, true, 102 }
	for _, row := range []struct {
		name       string
		began, now func(*Plan)
		want       string
	}{
		{name: "as before", began: led},
		{name: "more writes", began: led, now: func(r *Plan) { r.Newest = 5000 }},
		{name: "the quorum is lost since", began: led, now: func(r *Plan) { r.Led = false }},
		{name: "the quorum is back", began: func(r *Plan) { r.Answers, r.Newest = true, 102 }, now: led, want: "the members have a quorum again"},
		{name: "members came back", now: led, want: "the members have a quorum again"},
		{name: "one answers that did not", now: func(r *Plan) { r.Answers, r.Newest = true, 102 }, want: "their data can be saved first"},
		{name: "none answers any more", began: led, now: func(r *Plan) {
			r.Answers, r.Led, r.Silent = false, false, []Silent{{Pod: "main-0", Why: "no answer"}}
		}, want: "the present data can't be saved"},
		{name: "past the revision of the restore", began: led, now: func(r *Plan) { r.Newest = DefaultBump + 100 }, want: "it is at revision 1000000100 by now, and would be at 1000000100"},
		{name: "a recovery", began: survives},
		{name: "a recovery, and a member is slow", began: survives, now: func(r *Plan) { r.Silent = []Silent{{Pod: "main-0", Why: "no answer"}} }},
		{name: "a recovery, and a member has more", began: survives, now: func(r *Plan) { r.Newest = 101 }, want: "a member is at revision 101, and none was above 100 when the data of main-0 was saved"},
	} {
		began := plainRestore()
		if row.began != nil {
			row.began(&began)
		}
		now := began
		if row.now != nil {
			row.now(&now)
		}
		err := now.MayStillStop(NewRecord(began))
		wantRefusal(t, row.name, err, row.want)
		if p := now.ProposeRest(NewRecord(began), nil, false); p.Typed != "" {
			t.Errorf("%s: what has stopped members is confirmed with the name", row.name)
		}
		now.Unstopped = true
		if p := now.ProposeRest(NewRecord(began), nil, false); p.Typed != "main" {
			t.Errorf("%s: a yes confirms it", row.name)
		}
		if row.want != "" && row.name != "none answers any more" {
			wantRefusal(t, row.name, err, "It has stopped no member. End it, which changes no data of the members and restores client traffic: kubectl etcd -n team snapshot restore statefulset/main --abort")
		}
	}
}

// survives makes a plan that of a recovery.
func survives(r *Plan) { r.Saved, r.Survivor, r.Newest = true, "main-0", 100 }

// TestUnstopped: a journal shows whether members were stopped, beside the StatefulSet. The restore can be undone then,
// also if other clients have deleted claims since.
func TestUnstopped(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	first := firstStop(r.steps())
	for _, row := range []struct {
		done, replicas int
		mark           string
		want           bool
	}{
		{done: 0, replicas: 3, want: true},
		{done: first, replicas: 3, want: true},
		{done: first, replicas: 3, mark: "2026-01-01T00:00:00Z 3", want: true}, // the claim policy was written, or another client has started them
		{done: first, replicas: 0, mark: "2026-01-01T00:00:00Z 3"},
		{done: first + 1, replicas: 3},
		{done: first + 1, replicas: 0, mark: "2026-01-01T00:00:00Z 3"},
	} {
		name := fmt.Sprintf("%d done, %d replicas, mark %q", row.done, row.replicas, row.mark)
		rec := NewRecord(r)
		rec.Done = row.done
		text, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		sts := &appsv1.StatefulSet{}
		sts.Spec.Replicas = new(int32(row.replicas))
		if row.mark != "" {
			sts.Annotations = map[string]string{v1alpha1.RestoreAnnotation: row.mark}
		}
		if got := Unstopped(&journal.Journal{Kind: journal.KindRestore, Payload: text}, sts); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
		if Unstopped(&journal.Journal{Kind: journal.KindRestart, Payload: text}, sts) {
			t.Errorf("%s: a restart is a restore", name)
		}
		if row.mark == "" && row.want {
			u := changed(r, func(r *Plan) { r.Unmarked, r.GoneSince = true, []string{"data-main-1"} })
			if _, err := u.Undo(&progress.Record{Done: row.done}); err != nil {
				t.Errorf("%s: it can't be undone: %v", name, err)
			}
		}
	}
}

// TestSavedLast: the present data is saved when everything else is done that takes time, and clients are kept away. A
// restore that continues before it has stopped members saves it again, if a member has more.
func TestSavedLast(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]Plan{
		"plain": plainRestore(), "druid": druidRestore(), "lost": changed(plainRestore(), func(r *Plan) { r.Lost = []string{"main-1"} }),
		"one by one": changed(plainRestore(), func(r *Plan) { r.OneByOne = true }),
	} {
		r.Answers = true
		steps, rec := r.steps(), NewRecord(r)
		first := firstStop(steps)
		if steps[first-1].ID != saved {
			t.Errorf("%s: %q comes before the members stop", name, steps[first-1].Title)
		}
		for done := range first + 1 {
			rec.Done = done
			if got := r.Redone(rec); got != min(done, first-1) {
				t.Errorf("%s: %d of %d steps count as done", name, got, done)
			}
		}
		if rec.FirstStop = 0; r.Redone(rec) != 0 {
			t.Errorf("%s: the steps of an earlier version count", name)
		}
	}
	survey := etcd.Survey{Members: []etcd.Member{{Pod: "main-0", Revision: 102}, {Pod: "main-1", Err: errors.New("refused")}}}
	for revision, want := range map[int64]bool{101: false, 102: true, 103: true} {
		if got := SavedAll(revision, survey); got != want {
			t.Errorf("saved at %d: %t", revision, got)
		}
	}
}

// TestLostAtStop: the loss is that of the moment before the members stop. Without a writer, it is exact.
func TestLostAtStop(t *testing.T) {
	t.Parallel()
	for newest, want := range map[int64]string{
		140:  "before the restore, the members reported revision 140: 40 revisions after the snapshot are lost; the old data",
		6140: "before the restore, the members reported revision 6140: 6040 revisions after the snapshot are lost. Clients have written since the plan was made: what they wrote after this count, until the members stopped, is also lost; the old data",
	} {
		r := changed(plainRestore(), func(r *Plan) { r.Answers, r.Led, r.Newest = true, true, 140 })
		now := r
		now.Newest = newest
		r.AtStop(now)
		if got := r.Ended(); r.Newest != newest || !strings.HasPrefix(got, want) {
			t.Errorf("%d: %d, %s", newest, r.Newest, got)
		}
	}
}
