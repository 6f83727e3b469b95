// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
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
	steps := r.steps()
	if r.Unmarked {
		steps = steps[:firstStop(steps)]
	}
	return rec.Begun(steps)
}

// firstStop returns the index of the first step that changes the StatefulSet.
func firstStop(steps []step.Step) int {
	return slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == stopped })
}

// MayContinue refuses to continue a restore whose claims other clients have deleted. It also refuses one that has stopped the members, as its journal has it, although the StatefulSet
// has no mark of it. etcd-druid may remove the mark when it goes on; what is left then changes no data.
func (r Plan) MayContinue(rec *progress.Record) error {
	steps := r.steps()
	end := len(steps)
	if r.Druid != nil {
		end = slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == started })
	}
	if !r.Unmarked || rec.Done <= firstStop(steps) || rec.Done > end || rec.Done >= len(steps) {
		return r.claimsMayContinue()
	}
	set, kept := r.Owner.StatefulSet, journal.Name(r.Owner)
	return operate.Refuse("the journal of a restore into %s (ConfigMap %s) has %d steps that are done, and StatefulSet %s doesn't have annotation %s, which the restore sets when it stops the members. "+
		"Every user who may write ConfigMaps can write the journal, so nothing is done because of it. If the restore did stop the members, set the annotation again, "+
		"with the number of replicas from before in place of REPLICAS, and repeat the command: kubectl annotate statefulset %s %s=\"$(date -u +%%FT%%TZ) REPLICAS\" -n %s. Otherwise remove the journal: kubectl delete configmap %s -n %s",
		r.Owner, kept, rec.Done, set, v1alpha1.RestoreAnnotation, set, v1alpha1.RestoreAnnotation, r.Owner.Namespace, kept, r.Owner.Namespace)
}
