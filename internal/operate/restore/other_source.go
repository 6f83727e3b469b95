// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// ReplaceSource has an unfinished restore that nothing undoes go on with the snapshot of the plan in place of its own, which
// may be gone, or with which no member may start. It reports false for a restore that can be undone, and for its own
// snapshot. Call it before Continue, and Rewind after that.
func (r *Plan) ReplaceSource(rec *progress.Record) bool {
	if !rec.Final || rec.Undo || rec.Same(r.File, r.Snapshot) == nil {
		return false
	}
	before := Plan{Bump: rec.Bump}
	before.Snapshot.Revision, before.Snapshot.Written = rec.Revision, rec.Written
	rec.Replaced = append(rec.Replaced, before.restored())
	rec.Loss = fmt.Sprintf("%s; then the snapshot of revision %d was replaced by one of revision %d", recordedLoss(rec), rec.Revision, r.Snapshot.Revision)
	rec.SHA256, rec.Survivor = fmt.Sprintf("%x", r.Snapshot.SHA256), ""
	rec.File, rec.Parameters = progress.GivenName(r.Given)
	rec.Hashed, rec.Revision, rec.Written = r.Snapshot.Hashed, r.Snapshot.Revision, r.Snapshot.Written
	r.otherSource = true
	return true
}

// Rewind has a restore repeat the steps that copy its snapshot, and those after them. Each can be repeated: what members have
// run on stays under another name, or in a volume that is kept.
func (r Plan) Rewind(rec *progress.Record) error {
	begun, copies := r.begun(rec), copied
	if r.Druid != nil {
		copies = stored
	}
	switch {
	case slices.Contains(begun, letIn):
		return operate.Refuse("clients have been let in, so their data would be replaced by another snapshot: end the restore with its own snapshot first, and then restore the other one")
	case r.Druid != nil && r.Druid.StorePod != "":
		return operate.Refuse("the backup store is a directory of the nodes, from which this command can't remove the first snapshot: remove it by hand, and copy the other one there under the same name")
	}
	rec.Rewind(slices.IndexFunc(progress.Counted(r.steps()), func(s step.Step) bool { return s.ID == copies }))
	return nil
}

// removeReplaced returns the actions that remove the snapshots from the store that this one replaces. One of them may have a
// higher revision, and sidecars restore the highest.
func (r Plan) removeReplaced() (acts []step.Action) {
	for _, revision := range r.Replaced {
		if name := r.nameAt(revision); name != r.storedName() {
			acts = append(acts, removeObject(r.Druid.Store, name))
		}
	}
	return acts
}
