// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// begun returns the IDs of the steps that have been done, and of the one that may have been begun. Without a mark on the
// StatefulSet, these are the steps before the first that changes it: more users may write the journal than the
// StatefulSet, and what comes later removes data.
func (r Plan) begun(rec *progress.Record) []string {
	if !r.inOrder(rec) {
		return r.begunElsewhere(rec)
	}
	steps := r.steps()
	if r.Unmarked && !rec.Undone {
		steps = steps[:firstStop(steps)]
	}
	return rec.Begun(steps)
}

// firstStop returns the index of the first step that changes the StatefulSet.
func firstStop(steps []step.Step) int {
	return slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == stopped })
}

// MayContinue refuses to continue a restore whose claims other clients have deleted, or whose members another client has
// started. It also refuses one that has stopped the members, as its journal has it, although the StatefulSet has no mark of
// it.
func (r Plan) MayContinue(rec *progress.Record) error {
	if err := r.proven(rec); err != nil {
		return err
	}
	if err := r.mayStopAgain(rec); err != nil {
		return err
	}
	return r.claimsMayContinue(rec)
}

// proven refuses to follow a journal that has stopped the members, if the StatefulSet has no mark of it. etcd-druid may
// remove the mark when it goes on; what is left then changes no data. The end of a restore removes it, too.
func (r Plan) proven(rec *progress.Record) error {
	steps := progress.Counted(r.steps())
	end := len(steps) - 1
	if r.Druid != nil {
		end = slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == started })
	}
	if !r.Unmarked || rec.Done <= firstStop(steps) || rec.Done > end {
		return nil
	}
	return operate.Refuse("%s", operate.Unmarked{
		Owner: r.Owner, Journal: journal.Name(r.Owner), Operation: "restore", On: "into " + r.Owner.String(),
		Has:        fmt.Sprintf("has %d steps that are done", rec.Done),
		Annotation: v1alpha1.RestoreAnnotation, When: "it stops the members",
		If: "the restore did stop the members", Value: `"$(date -u +%FT%TZ) REPLICAS"`, With: ", with the number of replicas from before in place of REPLICAS",
	})
}

// mayUndoUnmarked refuses to undo a restore that has stopped the members, as its journal has it, if the StatefulSet has no
// mark of it: the old data would keep its other name. Where members run on the restored data, they would lose that. What a record with another
// order has shows nothing about that.
func (r Plan) mayUndoUnmarked(rec *progress.Record) error {
	if !r.Unmarked || !r.inOrder(rec) || rec.Done <= firstStop(r.steps()) {
		return nil
	}
	if err := r.proven(rec); err != nil {
		return err
	}
	return r.onlyEnds("members run on the restored data", false)
}

// onlyEnds returns why a restore can't be undone, and how to end it. This command may have no snapshot, so it is not the
// one that ends the restore without --abort.
func (r Plan) onlyEnds(why string, replaceable bool) error {
	other := ""
	if replaceable {
		other = ". If that snapshot is gone, restore another one in its place: " + r.plugin("snapshot restore FILE %s", r.Target())
	}
	return operate.Halt("%s; end the restore with the command that began it: %s shows that with its snapshot%s", why, r.plugin("status %s", r.Target()), other)
}
