// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// recordOf returns the record of a plan of which so many steps are done.
func recordOf(r Plan, done int) *progress.Record {
	return &progress.Record{Done: done, Order: r.order()}
}

// TestOtherOrder: a record of a version that put the snapshot into the store before it suspended etcd-druid and stopped the
// members is not continued. Its undoing removes the snapshot and resumes etcd-druid, however many steps are done, and it starts
// the members if the StatefulSet shows that they were stopped.
func TestOtherOrder(t *testing.T) {
	t.Parallel()
	const remove, start, resume = "Remove the snapshot from the backup store", "Start the members on their old data", "Resume etcd-druid"
	for name, row := range map[string]struct {
		done            int
		unmarked, final bool
		want            string
	}{
		"nothing is done":        {0, true, false, ""},
		"the snapshot is stored": {3, true, false, remove + ", " + resume},
		"members are to stop":    {5, true, false, remove + ", " + resume},
		"members are stopping":   {5, false, false, remove + ", " + start + ", " + resume},
		"claims are deleted":     {6, false, true, "refused"},
	} {
		r := changed(druidRestore(), func(r *Plan) { r.Answers, r.Unmarked = true, row.unmarked })
		rec := &progress.Record{Done: row.done, FirstStop: 5, FirstTouch: 2, Final: row.final}
		steps, err := r.Undo(rec)
		got := strings.Join(titles(steps), ", ")
		if err != nil {
			got = "refused"
		}
		if got != row.want {
			t.Errorf("%s: the undoing is %q (%v), want %q", name, got, err, row.want)
		}
		if err := r.SameOrder(rec); err == nil || strings.Contains(err.Error(), "--abort") == row.final {
			t.Errorf("%s: continued: %v", name, err)
		}
	}
	for name, r := range map[string]Plan{"plain": plainRestore(), "druid": druidRestore()} {
		if err := r.SameOrder(NewRecord(r)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
