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

// MayContinue refuses to continue a restore whose claims other clients have deleted. It also refuses one that has
// stopped the members, as its journal has it, although the StatefulSet has no mark of it. etcd-druid may remove the mark when it goes on; what is left then changes no data.
func (r Plan) MayContinue(rec *progress.Record) error {
	steps := r.steps()
	end := len(steps)
	if r.Druid != nil {
		end = slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == started })
	}
	if !r.Unmarked || rec.Done <= firstStop(steps) || rec.Done > end || rec.Done >= len(steps) {
		return r.claimsMayContinue()
	}
	return operate.Refuse("%s", operate.Unmarked{
		Owner: r.Owner, Journal: journal.Name(r.Owner), Operation: "restore", On: "into " + r.Owner.String(),
		Has:        fmt.Sprintf("has %d steps that are done", rec.Done),
		Annotation: v1alpha1.RestoreAnnotation, When: "it stops the members",
		If: "the restore did stop the members", Value: `"$(date -u +%FT%TZ) REPLICAS"`, With: ", with the number of replicas from before in place of REPLICAS",
	})
}
