// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// order returns the IDs of the steps for an Etcd, none for another cluster. Versions differ in it, and a record only has the
// number of the steps that are done.
func (r Plan) order() []string {
	if r.Druid == nil {
		return nil
	}
	var ids []string
	for _, s := range r.steps() {
		ids = append(ids, s.ID)
	}
	return ids
}

// inOrder reports whether a record counts the steps of the plan.
func (r Plan) inOrder(rec *progress.Record) bool { return slices.Equal(rec.Order, r.order()) }

// begunElsewhere returns the IDs of the steps that may have begun of a restore with another order: those that are undone
// without harm if they have not, and those that something else shows.
func (r Plan) begunElsewhere(rec *progress.Record) []string {
	if rec.Done == 0 {
		return nil
	}
	ids := []string{suspended, stored}
	if !r.Unmarked {
		ids = append(ids, stopped)
	}
	if rec.Final {
		ids = append(ids, removed)
	}
	return ids
}

// SameOrder refuses to continue a restore whose record counts other steps than those of the plan: it would leave some out,
// and do others twice.
func (r Plan) SameOrder(rec *progress.Record) error {
	if r.inOrder(rec) {
		return nil
	}
	way := "continue it with the version that began it"
	if !rec.Final {
		way += ", or end it, and begin again: " + r.plugin("snapshot restore %s --abort", r.Target())
	}
	return &operate.RefusedError{What: "continue the restore into " + r.Owner.String(), Why: []string{
		"another version of kubectl etcd began it, with its steps in another order, or the backup store is another one now; " + way,
	}}
}
