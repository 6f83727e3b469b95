// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Phase is how far a coordinated restart is. It only goes forward, and is recorded before anything
// of it is done.
type Phase string

// The phases.
const (
	// Scheduled means that no member has been stopped. The restart can still be ended.
	Scheduled Phase = "schedule-coordinated"
	// Stopping means that all members stop.
	Stopping Phase = "stop-coordinated"
	// Starting means that all members have stopped, and start.
	Starting Phase = "start-coordinated"
)

// Act is what is to be done next in a coordinated restart. The zero Act is Refuse.
type Act int

// The acts.
const (
	// Refuse means that a rule forbids the restart.
	Refuse Act = iota
	// Await means that pods stop, or members start.
	Await
	// CutTraffic and RestoreTraffic change the client Services.
	CutTraffic
	RestoreTraffic
	// EnterStopping and EnterStarting record the next phase.
	EnterStopping
	EnterStarting
	// StopAll sets the replicas to 0, and StartAll to their number from before.
	StopAll
	StartAll
	// Finish means that nothing is left to do.
	Finish
)

// Together are the facts about a coordinated restart.
type Together struct {
	Facts

	Phase Phase
	// Replicas are those that the cluster's owner asks for, and Size those from before.
	Replicas, Size int
	// Pods is how many members' pods there are.
	Pods int
	// Cuts is true if this restart cuts client traffic, and Cut if the traffic is cut.
	Cuts, Cut bool
	// OtherCluster is the pod of a member that answers with another cluster ID than before,
	// empty for none.
	OtherCluster string
}

// NextTogether returns the next act of a coordinated restart, with the reason and a message. The rows
// of docs/rules/restart.md are in the same order; the first that applies wins.
func NextTogether(t Together) (Act, policy.Verdict) {
	switch t.Phase {
	case Stopping:
		return t.stopping()
	case Starting:
		return t.starting()
	case Scheduled:
	}
	v := t.mayStopAll()
	switch {
	case t.Abort && t.Cuts && t.Cut:
		return RestoreTraffic, policy.Allow(RestartAborted, "no member was stopped")
	case t.Abort:
		return Finish, policy.Allow(RestartAborted, "no member was stopped")
	case !v.Allowed:
		return Refuse, v
	case t.Cuts && !t.Cut:
		return CutTraffic, v
	}
	return EnterStopping, v
}

func (t Together) stopping() (Act, policy.Verdict) {
	switch {
	case t.Replicas > 0:
		return StopAll, policy.Allow(MembersStopping, "all members stop")
	case t.Pods > 0:
		return Await, policy.Allow(MembersStopping, "%s still to stop; none starts before all have stopped", policy.Count(t.Pods, "pod"))
	}
	return EnterStarting, policy.Allow(MembersStopping, "all members have stopped")
}

func (t Together) starting() (Act, policy.Verdict) {
	if t.Replicas < t.Size {
		return StartAll, policy.Allow(MembersStarting, "all members start")
	}
	if t.OtherCluster != "" {
		return Refuse, policy.Refuse(OtherClusterID, "%s has another cluster ID than before, so it started with other data: client traffic is not restored", t.OtherCluster)
	}
	if i := slices.IndexFunc(t.Members, func(m Member) bool { return !m.Exists || m.Leaving || m.broken() || m.lags() }); i >= 0 {
		return Await, policy.Allow(MembersStarting, "%s", t.Members[i].awaited())
	}
	if t.Cuts && t.Cut {
		return RestoreTraffic, policy.Allow(RestartComplete, "every member is healthy")
	}
	return Finish, policy.Allow(RestartComplete, "every member is healthy")
}

// mayStopAll returns whether all members may be stopped. A member that is not healthy is no
// objection beside a quorum of healthy ones: it may be what the restart is for.
func (t Together) mayStopAll() policy.Verdict {
	healthy := 0
	for _, m := range t.Members {
		if m.Learner {
			return policy.Refuse(policy.LearnerPresent, "%s is a learner: wait until it votes, or remove it", m.Pod)
		}
		if m.Trouble == "" {
			healthy++
		}
	}
	quorum := policy.Quorum(len(t.Members))
	switch {
	case healthy < quorum:
		return policy.Refuse(policy.NoQuorum, "%d of %s healthy, quorum is %d: without a quorum it is not known whether the data would be complete again", healthy, policy.Count(len(t.Members), "voter"), quorum)
	case t.Cluster.Operation != "":
		return policy.Refuse(policy.OperationUnderWay, "a change is under way (%s): wait until it is over", t.Cluster.Operation)
	case t.Cluster.BackupReady.Value() == policy.False:
		return policy.Refuse(policy.BackupFailing, "BackupReady is False (%s): recent data may not be in any backup", t.Cluster.BackupReady.Reason)
	case t.Cluster.TrafficCut && !t.Cuts:
		return policy.Refuse(policy.ClientTrafficCut, "client traffic is cut: restore it first (kubectl etcd restore-client-traffic)")
	}
	return policy.Allow(policy.QuorumKept, "%d of %s healthy, quorum is %d", healthy, policy.Count(len(t.Members), "voter"), quorum)
}
