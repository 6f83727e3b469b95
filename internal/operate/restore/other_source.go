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
// may be gone. It reports false for a restore that can be undone, and for its own snapshot. Call it before Continue, and
// Rewind after that.
func (r *Plan) ReplaceSource(rec *progress.Record) bool {
	if !rec.Final || rec.Undo || rec.Same(r.File, r.Snapshot) == nil {
		return false
	}
	rec.Loss = fmt.Sprintf("%s; then the snapshot of revision %d was replaced by one of revision %d", recordedLoss(rec), rec.Revision, r.Snapshot.Revision)
	r.first = rec.SHA256
	rec.SHA256, rec.Survivor = fmt.Sprintf("%x", r.Snapshot.SHA256), ""
	rec.File, rec.Parameters = progress.GivenName(r.Given)
	rec.Hashed, rec.Revision, rec.Written = r.Snapshot.Hashed, r.Snapshot.Revision, r.Snapshot.Written
	r.otherSource = true
	return true
}

// Rewind has a restore into a StatefulSet repeat the steps that copy its snapshot, and those after them. It refuses that once
// members may have run on the first snapshot. The order of an Etcd's steps depends on its snapshot, so it keeps that.
func (r Plan) Rewind(rec *progress.Record) error {
	switch {
	case r.Druid != nil:
		return operate.Refuse("a restore into %s is unfinished and can't be undone any more, and a restore of an Etcd goes on only with the snapshot that it began with (SHA-256 %s): %s shows its name", r.Owner, r.first, r.plugin("status %s", r.Target()))
	case slices.Contains(r.begun(rec), started):
		return operate.Refuse("members of %s have started on the snapshot with which the restore began (SHA-256 %s): end the restore with that first, and then restore the other one", r.Owner, r.first)
	}
	rec.Rewind(slices.IndexFunc(progress.Counted(r.steps()), func(s step.Step) bool { return s.ID == copied }))
	return nil
}
