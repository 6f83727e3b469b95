// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// row is the row of the budget's table that applies.
type row struct {
	reason string
	target int
	// ends is when a hold that this row is ends; after is what it gives way to.
	ends  time.Time
	after int
}

// budgetRow finds it. Rows are in the order of docs/rules/budget.md: the first
// that applies wins, the tighter ones come first.
func budgetRow(f BudgetFacts, s BudgetSettings, t tally, c *clocks) row {
	switch {
	case f.Cluster.TrafficCut:
		return row{reason: ClientTrafficCut, target: t.everyPod()}
	case f.Cluster.Stale && c.within(c.state.StaleSince, s.StaleLimit):
		return row{reason: FactsStale, target: t.everyPod()}
	case f.Cluster.Stale:
		return row{reason: FactsStaleTooLong, target: max(t.quorum, t.readyPods) + t.readyLearners + t.strangers}
	case t.complete() && t.allMembers:
		return readyRow(s, t, c)
	}
	return unreadyRow(t)
}

// readyRow is for a cluster whose members are all ready.
func readyRow(s BudgetSettings, t tally, c *clocks) row {
	switch {
	case !c.backupFailing:
		return row{reason: AllReady, target: t.quorumOnly()}
	case c.within(c.state.HoldSince, s.BackupHoldLimit):
		return row{
			reason: BackupFailing, target: t.everyPod(),
			ends: c.state.HoldSince.Add(s.BackupHoldLimit), after: t.quorumOnly(),
		}
	}
	return row{reason: BackupFailingTooLong, target: t.quorumOnly()}
}

// unreadyRow is for a cluster with a member that is not ready or a pod that is
// not. A budget can't tell two unready pods apart, so a sick one may go only
// where all of them may: the voters that keep both their pod and their lease
// must be a quorum of all that may have a vote.
func unreadyRow(t tally) row {
	switch {
	case t.agree < Quorum(t.voters):
		return row{reason: QuorumAtRisk, target: t.everyPod()}
	case len(t.down) > 0 || t.missing > 0:
		return row{reason: MemberDown, target: t.healthy()}
	case len(t.disturbed) > 0:
		return row{reason: PodNotReady, target: t.everyPod()}
	case len(t.impostors) > 0:
		return row{reason: MemberNotReady, target: t.everyPod()}
	}
	return row{reason: ConditionFalse, target: t.everyPod()}
}
