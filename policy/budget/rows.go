// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// row is the row of the budget's table that applies.
type row struct {
	reason policy.Reason
	target int
	// ends is when the hold of this row ends, zero if it is no hold. after is the value after it.
	ends  time.Time
	after int
}

// findRow returns the row that applies. The rows are in the order of docs/rules/budget.md: the
// first that applies wins, and stricter rows come first.
func findRow(f Facts, s Settings, t counts, c *clocks) row {
	switch {
	case f.Cluster.TrafficCut:
		return row{reason: policy.ClientTrafficCut, target: t.everyPod()}
	case f.Cluster.Stale && c.within(c.state.StaleSince, s.StaleLimit):
		return row{reason: policy.FactsStale, target: t.everyPod()}
	case f.Cluster.Stale:
		return row{reason: FactsStaleTooLong, target: max(t.quorum, t.readyPods) + t.readyLearners + t.nonMemberPods}
	case t.complete() && t.allMembers:
		return readyRow(f, s, t, c)
	}
	return unreadyRow(f, t, c)
}

// readyRow returns the row for a cluster whose members are all ready.
func readyRow(f Facts, s Settings, t counts, c *clocks) row {
	switch {
	case c.backupFailing && c.within(c.state.HoldSince, s.BackupHoldLimit):
		return row{
			reason: policy.BackupFailing, target: t.everyPod(),
			ends: c.state.HoldSince.Add(s.BackupHoldLimit), after: t.quorumOnly(),
		}
	case f.Cluster.Restarting:
		return row{reason: RolloutUnderWay, target: t.everyPod()}
	case t.quorumOnly() > t.settled():
		ends := c.now.Add(t.learnFor)
		c.within(ends, 0)
		return row{reason: policy.MemberJoined, target: t.quorumOnly(), ends: ends, after: t.settled()}
	case !c.backupFailing:
		return row{reason: policy.AllReady, target: t.quorumOnly()}
	}
	return row{reason: BackupFailingTooLong, target: t.quorumOnly()}
}

// unreadyRow returns the row for a cluster with a member or a pod that is not ready. A budget
// can't distinguish two unready pods, so one may be evicted only if all may. For that, the voters
// with a Ready pod and a fresh lease must be a quorum of all members that may have a vote, whichever have one. The pod
// that a rollout restarts becomes Ready before this rule is asked again, so it may not be evicted.
func unreadyRow(f Facts, t counts, c *clocks) row {
	switch {
	case t.agree < policy.ReadyNeeded(t.voters, len(t.mayLearn)):
		c.within(c.now, t.learnFor)
		return row{reason: QuorumAtRisk, target: t.everyPod()}
	case f.Cluster.Restarting:
		return row{reason: RolloutUnderWay, target: t.everyPod()}
	case len(t.down) > 0 || t.missing > 0:
		return row{reason: policy.MemberDown, target: t.healthy()}
	case len(t.memberReadyPodNot)+len(t.mayRun) > 0:
		return row{reason: PodNotReady, target: t.everyPod()}
	case len(t.readyPodButNotMember) > 0:
		return row{reason: MemberNotReady, target: t.everyPod()}
	}
	return row{reason: policy.ConditionFalse, target: t.everyPod()}
}
