// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestReplaceSource has another snapshot after each step: it is restored only where nothing undoes the restore, and before
// members start. Then the steps that copy it are done again. A restore into an Etcd keeps its snapshot.
func TestReplaceSource(t *testing.T) {
	t.Parallel()
	lost := plainRestore()
	lost.Saved, lost.Survivor, lost.Lost, lost.Gone = true, "main-0", []string{"main-1", "main-2"}, nil
	replaced := 0
	for name, plan := range map[string]Plan{"lost members": lost, "an Etcd": druidRestore(), "plain": plainRestore()} {
		steps := progress.Counted(plan.steps())
		at := func(id string) int { return slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == id }) }
		for done := range steps {
			rec := NewRecord(plan)
			rec.Done, rec.Final = done, slices.ContainsFunc(steps[:done+1], func(s step.Step) bool { return s.Final })
			r, first := plan, rec.SHA256
			r.File, r.Given = "other.db", "other.db"
			r.Snapshot.SHA256[0]++
			r.Snapshot.Revision, r.Snapshot.Written = r.Snapshot.Revision-1, r.Snapshot.Written-1
			if got := r.ReplaceSource(rec); got != rec.Final {
				t.Fatalf("%s, %d steps done: replaced %t, want %t", name, done, got, rec.Final)
			}
			if !rec.Final {
				continue
			}
			err := r.Rewind(rec)
			if refused := r.Druid != nil || done >= at(started); (err != nil) != refused || refused && !strings.Contains(err.Error(), first) {
				t.Fatalf("%s, %d steps done: %v", name, done, err)
			}
			if err != nil {
				continue
			}
			replaced++
			if rec.Done > min(at(copied), done) || rec.Same("other.db", r.Snapshot) != nil || rec.File+rec.Survivor != "other.db" {
				t.Errorf("%s, %d steps done: goes on after %d with %s", name, done, rec.Done, rec.File)
			}
		}
	}
	if replaced == 0 {
		t.Error("no restore goes on with another snapshot")
	}
}

// TestNoAbortAfterFinal: a message about a restore that nothing undoes doesn't send the user to --abort.
func TestNoAbortAfterFinal(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	rec := NewRecord(r)
	rec.Final = true
	rec.Done = slices.IndexFunc(r.steps(), func(s step.Step) bool { return s.ID == removed })
	_, undo := r.Undo(rec)
	_, file := survivor.FileOf(t.Context(), r.Owner, rec, "")
	for _, err := range []error{undo, file} {
		if err == nil || strings.Contains(err.Error(), "--abort") {
			t.Errorf("%v", err)
		}
	}
	if err := r.OtherFile(rec, file); strings.Contains(err.Error(), "--abort") {
		t.Error(err)
	}
}

// TestTooNew: members that would not start with a snapshot are not stopped for it.
func TestTooNew(t *testing.T) {
	t.Parallel()
	for _, r := range []Plan{plainRestore(), druidRestore()} {
		for _, row := range []struct {
			snapshot, members string
			refused           bool
		}{{"3.6.0", "3.5.21", true}, {"3.6.0", "3.6.1", false}, {"", "3.5.21", false}, {"3.6.0", "", false}} {
			r.Snapshot.StorageVersion, r.Etcd = row.snapshot, row.members
			if _, _, err := Steps(r); (err != nil) != row.refused {
				t.Errorf("%+v: %v", row, err)
			}
		}
	}
}

// TestStoreHasMore: the loss of a restore without any answer counts what the store has.
func TestStoreHasMore(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	r.Newest, r.Snapshot.Revision, r.Snapshot.Written, r.Druid.Stored = 0, 3000, 3000, 9000
	if got := r.lost(); !strings.Contains(got, "6000 revisions after the snapshot are lost") {
		t.Error(got)
	}
}
