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
// touches their data, however many steps it has done. That of a restore which has ended is no obstacle.
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
		for done := range len(steps) + 2 {
			rec := &progress.Record{Done: done}
			if err := r.MayContinue(rec); err != nil {
				t.Errorf("%s, %d done, marked: %v", name, done, err)
			}
			u := changed(r, func(r *Plan) { r.Unmarked = true })
			undo, err := u.Undo(rec)
			if err != nil {
				t.Errorf("%s, %d done: %v", name, done, err)
			}
			for _, s := range undo {
				if strings.Contains(s.Title, "members") || strings.Contains(s.Title, "data") {
					t.Errorf("%s, %d done: the undoing does %q", name, done, s.Title)
				}
			}
			changes := done > firstStop(steps) && done < len(steps)
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
