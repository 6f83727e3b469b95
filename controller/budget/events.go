// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The actions of this controller's Events. Kubernetes merges Events that differ only
// in their message into a series that shows the first message. With an action for each
// direction, a change in one doesn't hide a change in the other.
const (
	actionKeep    = "KeepBudget"
	actionRelease = "ReleaseBudget"
	actionTighten = "TightenBudget"
	actionLoosen  = "LoosenBudget"
)

// The types of Events.
const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// announce records each note as a warning Event, once for as long as its reason holds, on
// the owner and on the budget.
func (c *cluster) announce(notes []policy.Note) {
	reason := func(n policy.Note) string { return n.Reason.Name() }
	for _, n := range c.announced.Fresh(c.owner.Key(), notes, reason) {
		c.record(c.eventBudget(), warning, n, actionKeep)
	}
}

// eventBudget returns the budget that Events about the cluster are recorded on, nil for none.
func (c *cluster) eventBudget() *policyv1.PodDisruptionBudget {
	if kept := c.facts.Budgets.Managed; kept != nil && (c.kept() || kept.Record.For != "") {
		return kept.PodDisruptionBudget
	}
	if held := c.heldBudgets(); len(held) > 0 {
		return held[0]
	}
	return nil
}

// record records an Event of a kind on the cluster's owner, and on a budget if it isn't nil:
// kubectl describe pdb then explains a drain that waits.
func (c *cluster) record(pdb *policyv1.PodDisruptionBudget, kind string, n policy.Note, action string) {
	owner := announce.Reference(c.owner)
	announce.Event(c.Recorder, owner, nil, kind, n, action)
	if pdb != nil {
		announce.Event(c.Recorder, pdb, owner, kind, n, action)
	}
}

// recordHandOver records an Event on a budget that is recorded for another owner now, on that owner, and on the
// one that it was recorded for, nil if that is gone.
func (b *Reconciler) recordHandOver(pdb *policyv1.PodDisruptionBudget, from *owner.Owner, to owner.Owner) {
	n := policy.NewNote(reasons.BudgetHandedOver, "budget %s is recorded for %s now, at the number that it has", pdb.Name, to)
	announce.Event(b.Recorder, pdb, announce.Reference(to), normal, n, actionKeep)
	announce.Event(b.Recorder, announce.Reference(to), nil, normal, n, actionKeep)
	if from != nil {
		announce.Event(b.Recorder, announce.Reference(*from), nil, normal, n, actionKeep)
	}
}
