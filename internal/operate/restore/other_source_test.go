// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestReplaceSource has another snapshot after each step: it is restored only where nothing undoes the restore, and before
// clients are let in. Then the steps that copy it are done again.
func TestReplaceSource(t *testing.T) {
	t.Parallel()
	lost := plainRestore()
	lost.Saved, lost.Survivor, lost.Lost, lost.Gone = true, "main-0", []string{"main-1", "main-2"}, nil
	for name, row := range map[string]struct {
		plan   Plan
		copies string
	}{"lost members": {lost, copied}, "an Etcd": {druidRestore(), stored}, "plain": {plainRestore(), copied}} {
		steps := progress.Counted(row.plan.steps())
		at := func(id string) int { return slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == id }) }
		for done := range steps {
			rec := NewRecord(row.plan)
			rec.Done, rec.Final = done, slices.ContainsFunc(steps[:done+1], func(s step.Step) bool { return s.Final })
			r, first := row.plan, row.plan.storedNameOf()
			r.File, r.Given = "other.db", "other.db"
			r.Snapshot.SHA256[0]++
			r.Snapshot.Revision, r.Snapshot.Written = r.Snapshot.Revision-1, r.Snapshot.Written-1
			if got := r.ReplaceSource(rec); got != rec.Final {
				t.Fatalf("%s, %d steps done: replaced %t, want %t", name, done, got, rec.Final)
			}
			if !rec.Final {
				continue
			}
			r.Replaced = rec.Replaced // as Continue does
			if err := r.Rewind(rec); (err != nil) != (done >= at(letIn)) {
				t.Fatalf("%s, %d steps done: %v", name, done, err)
			}
			if done >= at(letIn) {
				continue
			}
			if rec.Done > at(row.copies) || rec.Done > done || rec.Same("other.db", r.Snapshot) != nil || rec.File != "other.db" || rec.Survivor != "" {
				t.Errorf("%s, %d steps done: goes on after %d with %s", name, done, rec.Done, rec.File)
			}
			if commands := fmt.Sprint(commandsOf(r)); r.Druid != nil && !strings.Contains(commands, first) {
				t.Errorf("%s: %s stays in the store: %s", name, first, commands)
			}
		}
	}
}

func (r Plan) storedNameOf() string {
	if r.Druid == nil {
		return ""
	}
	return r.storedName()
}

func commandsOf(r Plan) (all []string) {
	for _, s := range r.steps() {
		all = append(all, s.Commands(r.Flags)...)
	}
	return all
}

// TestNoAbortAfterFinal: a message about a restore that nothing undoes doesn't send the user to --abort, and shows how another
// snapshot is restored.
func TestNoAbortAfterFinal(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	rec := NewRecord(r)
	rec.Final = true
	rec.Done = slices.IndexFunc(r.steps(), func(s step.Step) bool { return s.ID == removed })
	_, undo := r.Undo(rec)
	_, file := survivor.FileOf(t.Context(), r.Owner, rec, "")
	for _, err := range []error{undo, file} {
		if err == nil || strings.Contains(err.Error(), "--abort") || !strings.Contains(err.Error(), "snapshot restore FILE") {
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
