// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// FullError means that a cluster is defragmented and still has no space.
type FullError struct{ message string }

func (e *FullError) Error() string { return e.message }

// Defragmentation is the defragmentation of all members. If etcd has run out of space, it also
// compacts the history, and disarms NOSPACE.
type Defragmentation struct {
	*Job

	// Cluster is its name in messages.
	Cluster string
	// Cure is true if etcd has run out of space, according to the last judgement.
	Cure bool

	state State
}

// Judge returns the plan, or a *RefusedError if the cluster must not be defragmented now.
func (d *Defragmentation) Judge(ctx context.Context) (operate.Plan, error) {
	var err error
	if d.state, err = d.readState(ctx); err != nil {
		return operate.Plan{}, err
	}
	verdict := maintenance.MayDefrag(d.state.Cluster, d.state.Databases, d.state.UnmappedAlarms)
	if !verdict.Allowed {
		return operate.Plan{}, operate.Refuse("%s can't be defragmented now: %s", d.Cluster, verdict.Message)
	}
	d.Cure = maintenance.OutOfSpace(d.state.Databases, d.state.UnmappedAlarms)
	return d.plan(verdict), nil
}

func (d *Defragmentation) plan(v policy.Verdict) operate.Plan {
	order := maintenance.DefragOrder(d.state.Databases)
	plan := operate.Plan{
		Title: "defragment " + d.Cluster,
		Facts: append(Facts(d.state.Databases), v.Message, "no snapshot is being read"),
		// Another leader, or another member, is another order of the steps.
		Subject: strings.Join(order, " "),
	}
	step := func(format string, args ...any) { plan.Steps = append(plan.Steps, fmt.Sprintf(format, args...)) }
	if d.Cure {
		plan.Title += " and disarm " + maintenance.NoSpace
		step("compact the history of all keys up to now")
		plan.Warnings = append(plan.Warnings, "Clients that watch from a revision before the compacted one must list again.")
	}
	last := len(order) - 1
	if last > 0 {
		step("defragment %s, one after the other, and check the whole cluster before each", strings.Join(order[:last], ", "))
		step("transfer leadership away from %s, and defragment it", order[last])
	} else {
		step("defragment %s", order[last])
		plan.Warnings = append(plan.Warnings, "It is the only member: etcd answers no requests until the defragmentation ends.")
	}
	if d.Cure {
		step("check that every database has free space, and disarm %s", maintenance.NoSpace)
	}
	for _, n := range v.Notes {
		plan.Warnings = append(plan.Warnings, n.Message+".")
	}
	return plan
}

// Run carries out the last plan. The error is a *FullError if etcd still has no space at the
// end.
func (d *Defragmentation) Run(ctx context.Context) error {
	if d.Cure {
		if err := d.Compact(ctx, d.state); err != nil {
			return err
		}
	}
	if err := d.Defragment(ctx); err != nil {
		return err
	}
	if !d.Cure {
		return nil
	}
	verdict, err := d.disarmNoSpace(ctx)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return &FullError{fmt.Sprintf("%s is defragmented and still out of space: %s", d.Cluster, verdict.Message)}
	}
	return nil
}
