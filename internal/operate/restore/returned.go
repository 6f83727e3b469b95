// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// returned reports whether another client has started members since the restore stopped them, of which so many steps are
// done. The restore starts members itself in the step that creates volumes, and after the last step that needs them stopped.
// Members that it doesn't restore have their old data: they may go on as the old cluster.
func (r Plan) returned(steps []step.Step, done int, sts *appsv1.StatefulSet) bool {
	last := lastStopped(steps)
	if r.Druid == nil && int(ptr.Deref(sts.Spec.Replicas, 1)) > len(r.into()) {
		last = max(last, slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == started }))
	}
	if !startedAgain(sts) || done > last {
		return false
	}
	for i := done; i >= 0; i-- {
		switch {
		case steps[i].ID == claimed:
			return false
		case steps[i].ID == stopped && i < done:
			return true
		}
	}
	return false
}

// startedAgain reports whether a StatefulSet has replicas, of which the mark shows that a restore has set them to 0 or was
// about to.
func startedAgain(sts *appsv1.StatefulSet) bool {
	_, marked := step.MarkOf(sts)
	return marked && ptr.Deref(sts.Spec.Replicas, 1) > 0
}

// lastStopped returns the index of the last step that needs the members stopped.
func lastStopped(steps []step.Step) int {
	last := -1
	for i, s := range steps {
		if slices.Contains(s.Uses, stopped) {
			last = i
		}
	}
	return last
}

// firstTouch returns the index of the first step that changes where members find their data. Members that start before
// it go on with all that they had.
func firstTouch(steps []step.Step) int {
	return slices.IndexFunc(steps, func(s step.Step) bool {
		return slices.Contains([]string{renamed, stored, removed, replaced, claimed}, s.ID)
	})
}

// findReturned finds out whether members of an unfinished restore run that it has not stopped, or that another client has
// started since.
func (r *Plan) findReturned(rec *progress.Record, sts *appsv1.StatefulSet) {
	steps := r.steps()
	r.Returned = r.returned(steps, rec.Done, sts)
	r.Unstopped = rec.Done <= firstStop(steps) && notStopped(sts) || r.Returned && rec.Done < firstTouch(steps)
	switch {
	case rec.Undo: // which has stopped them, and may have started them
		r.Starter = format.PrintableLine(rec.Starter)
	case startedAgain(sts) && rec.Done > firstStop(steps):
		r.Starter = fmt.Sprintf("another client set the replicas of StatefulSet %s/%s to %d%s", sts.Namespace, sts.Name, ptr.Deref(sts.Spec.Replicas, 1), progress.WriterOfReplicas(sts))
	}
}

// mayStopAgain refuses to continue a restore whose members another client has started since a part of their data may have
// another name: nothing shows what they run on, and what clients have written to it.
func (r Plan) mayStopAgain(rec *progress.Record) error {
	if !r.Returned || r.Unstopped {
		return nil
	}
	begun := r.begun(rec)
	way := fmt.Sprintf("set the replicas to 0, and repeat the command: it replaces what they have now. Before that, save it if it is needed: %s", r.plugin("snapshot save %s FILE", r.Target()))
	if mayNotUndo(func(id string) bool { return slices.Contains(begun, id) }) == "" {
		does := "start them on their old data, which keeps what they have now under another name"
		if r.Druid != nil {
			does = "end the restore, which removes the snapshot from the backup store. The members keep what they have"
		}
		way = fmt.Sprintf("%s: %s. If the cluster is still to be restored after that, begin again", does, r.plugin("snapshot restore %s --abort", r.Target()))
	}
	return &operate.RefusedError{What: "continue the restore into " + r.Owner.String(), Why: []string{
		fmt.Sprintf("%s since the restore stopped the members, and it is not known what clients have written since. Stop that client, and %s", r.Starter, way),
	}}
}
