// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strconv"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// grow returns the step that adds the other of so many members.
func (r Plan) grow(members int) step.Step {
	grow := step.Step{Title: "Add the other members", After: true}
	if m := r.Owner.Membership(); m.Manager == flavour.Unmanaged {
		grow.Acts = append(grow.Acts, verb("scale", r.Target(), "--replicas", strconv.Itoa(members), "-y"))
	} else {
		grow.Why = fmt.Sprintf("Scale to %d members, which %s adds: %s.", members, m.ManagerName, m.ScaleHow)
	}
	return grow
}

// OnlyScale returns the step that a restore still has after it has ended, and describes it for the user. The journal has
// the number of members.
func (r Plan) OnlyScale(rec *progress.Record) ([]step.Step, operate.Plan) {
	steps := []step.Step{r.grow(rec.Journal().ScaleTo)}
	return steps, operate.Plan{
		Title:   "continue the restore into " + r.Owner.String(),
		Subject: fmt.Sprintf("%s %s scale", r.Owner.UID, rec.SHA256),
		Facts: []string{
			"begun " + format.Time(rec.Journal().Began),
			"the snapshot is restored, and clients have been let in",
			"the cluster is to get " + policy.Count(rec.Journal().ScaleTo, "member"),
		},
		Steps: []string{steps[0].Title},
	}
}
