// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestUnmarked: a journal alone, which more users may write than the StatefulSet, neither stops or starts members nor
// touches their data, however many steps it has done. That of a restore which has ended is no obstacle to its end, and
// nothing undoes a restore that has stopped the members: neither what another client did to the mark nor the end of the
// restore gives old data its name again, and the snapshot stays in the store.
//
//nolint:gocyclo // one check a result
func TestUnmarked(t *testing.T) {
	t.Parallel()
	plain := func(change func(*Plan)) Plan { return changed(plainRestore(), change) }
	for name, r := range map[string]Plan{
		"plain":      plain(func(*Plan) {}),
		"one by one": plain(func(r *Plan) { r.OneByOne = true }),
		"lost":       plain(func(r *Plan) { r.Lost = []string{"main-1"} }),
		"druid":      druidRestore(),
	} {
		steps := r.steps()
		counted := len(steps)
		if r.OneByOne {
			counted-- // the change that adds the others
		}
		for done := range len(steps) + 2 {
			rec := recordOf(r, done)
			if err := r.MayContinue(rec); err != nil {
				t.Errorf("%s, %d done, marked: %v", name, done, err)
			}
			u := changed(r, func(r *Plan) { r.Unmarked = true })
			undo, err := u.Undo(rec)
			if (err != nil) != (done > firstStop(steps)) || err != nil && len(undo) > 0 {
				t.Errorf("%s, %d done: undone by %q: %v", name, done, titles(undo), err)
			}
			for _, s := range undo {
				if strings.Contains(s.Title, "members") || strings.Contains(s.Title, "data") {
					t.Errorf("%s, %d done: the undoing does %q", name, done, s.Title)
				}
			}
			if undo, err := u.Undo(&progress.Record{Done: done, Order: r.order(), Undo: true, Undone: true}); err != nil || len(undo) > 0 {
				t.Errorf("%s, %d done, and undone: %q, %v", name, done, titles(undo), err)
			}
			if text := u.Undone(&progress.Record{Done: done, Order: r.order(), Undone: true}); strings.Contains(text, "not been stopped") == isDone(steps, done+1, stopped) {
				t.Errorf("%s, %d done, and undone: %s", name, done, text)
			}
			changes := done > firstStop(steps) && done < counted
			if r.Druid != nil && isDone(steps, done, started) {
				changes = false // what is left checks the members
			}
			if err := u.MayContinue(rec); (err != nil) != changes {
				t.Errorf("%s, %d of %d done: %v", name, done, len(steps), err)
			}
		}
	}
}

// isDone reports whether a step is among the first ones.
func isDone(steps []step.Step, done int, id string) bool {
	return slices.ContainsFunc(steps[:min(done, len(steps))], func(s step.Step) bool { return s.ID == id })
}
