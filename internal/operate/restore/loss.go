// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// lost returns what the restore loses, as far as the members showed it when the plan was made.
func (r Plan) lost() string {
	newer := r.Newest - r.Snapshot.Revision
	switch {
	case r.Loss != "":
		return r.Loss
	case r.Newest == 0 && r.Druid != nil && r.Druid.Stored > r.Snapshot.Revision:
		return fmt.Sprintf("no member answered, and the backup store has revision %d, as the leases of the sidecars show: the %d revisions after the snapshot are lost, and what is not in the store. To restore those of the store too, don't restore this file: see docs/snapshots.md, All data of an Etcd is lost", r.Druid.Stored, r.Druid.Stored-r.Snapshot.Revision)
	case r.Newest == 0:
		return "no member answered, so it is not known what was written after the snapshot; all of it is lost"
	case r.Split:
		return fmt.Sprintf("the members of several etcd clusters reported up to revision %d: it is not known what is lost", r.Newest)
	case r.other() != "":
		return fmt.Sprintf("the members reported revision %d, and the snapshot is of another etcd cluster: it is not known what is lost", r.Newest)
	case !r.comparable():
		return fmt.Sprintf("the members reported revision %d, and the snapshot may be of another etcd cluster: it is not known what is lost", r.Newest)
	case newer < 0 && !r.Saved: // members that bootstrap again from the same flags have the same cluster ID
		return fmt.Sprintf("the members that answered reported revision %d, an earlier one than the snapshot has: they lag, or the cluster lost its data and started again. What it has written since is lost, and it is not known how much that is", r.Newest)
	}
	return r.lostRevisions(newer)
}

// lostRevisions returns what a restore loses of the etcd cluster that its snapshot is of. Without a leader, the members
// that answered may lack writes that others have.
func (r Plan) lostRevisions(newer int64) string {
	silent := r.unanswered()
	text := r.reported(newer, len(silent) > 0)
	if len(silent) > 0 {
		text += fmt.Sprintf(". What only %s had is also lost, and it is not known what that is", policy.List(silent))
	}
	if r.Saved && r.Backup > 0 {
		text += fmt.Sprintf(". The backups have revision %d: what only they have is not restored", r.Backup)
	}
	return text
}

// reported returns how far the members were, and how much of that the snapshot lacks. silent means that not all answered.
func (r Plan) reported(newer int64, silent bool) string {
	members := "the members"
	switch {
	case newer == 0 && len(r.Answered) == 0 && len(r.Read) > 0:
		return fmt.Sprintf("no member answered, and what was read from the volume of %s has nothing that is newer than the snapshot. The last writes may be missing: without a quorum, a member doesn't know whether they were committed",
			policy.List(r.Read))
	case silent:
		members = "the members that answered"
	}
	is := "revisions after the snapshot are"
	switch {
	case newer <= 0:
		return fmt.Sprintf("%s reported revision %d: they have nothing that is newer than the snapshot", members, r.Newest)
	case newer == 1:
		is = "revision after the snapshot is"
	}
	return fmt.Sprintf("%s reported revision %d: %d %s lost", members, r.Newest, newer, is)
}

// unanswered returns the pods of members that didn't answer, and that may have what the others lack. It is empty while
// the others follow a leader.
func (r Plan) unanswered() []string {
	if r.Led {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.running()), func(pod string) bool {
		return slices.Contains(r.Answered, pod) || slices.Contains(r.Read, pod)
	})
}

// recordedLoss returns what an unfinished restore loses, as its plan had it: the members don't show it any more. Every
// user who may write ConfigMaps may have written it.
func recordedLoss(rec *progress.Record) string {
	return cmp.Or(format.PrintableLine(rec.Loss), "no record was made of what is lost")
}
