// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Phase is how far a coordinated restart is. It only goes forward, and is recorded before anything
// of it is done: in the record, then in the mark of the workload.
type Phase string

// The phases.
const (
	// Scheduled means that no member has been stopped.
	Scheduled Phase = "schedule-coordinated"
	// Stopping means that all members stop.
	Stopping Phase = "stop-coordinated"
	// Starting means that all members have stopped, or that the stop was aborted, and that they start.
	Starting Phase = "start-coordinated"
)

// Act is what is to be done next in a coordinated restart. Each act is one idempotent write, or a
// wait. The zero Act is Refuse.
type Act int

// The acts.
const (
	// Refuse means that a rule forbids the next act.
	Refuse Act = iota
	// Await means that clients, pods or members are awaited.
	Await
	// MarkWorkload marks the workload, so that the scale guard refuses writes of its replicas by
	// other clients, and UnmarkWorkload removes the mark.
	MarkWorkload
	UnmarkWorkload
	// CutTraffic and RestoreTraffic change the client Services.
	CutTraffic
	RestoreTraffic
	// UpdatePeers sets the peer URLs of a member in etcd's list: see NextUpdate.
	UpdatePeers
	// EnterStopping and EnterStarting record the next phase, in the record and in the mark.
	EnterStopping
	EnterStarting
	// StopAll sets the replicas to 0, and StartAll to their number from before.
	StopAll
	StartAll
	// Finish means that nothing is left to do but to remove the record.
	Finish
)

// Coordinated has the facts about a coordinated restart.
type Coordinated struct {
	Facts

	// Phase is what the record has, and Mark what the mark of the workload has, empty without a mark.
	Phase, Mark Phase
	// Abort is true if the user wants to end the restart.
	Abort bool
	// Replicas are those that the workload asks for, and Size those from before: those of the mark if there
	// is one.
	Replicas, Size int
	// Pods is how many pods the members have.
	Pods int
	// Intact is how many members have data that outlives their pod and can be mounted again. It
	// matters only before members stop.
	Intact int
	// Cuts is true if this restart cuts client traffic. AllCut is true if no Service leads clients to the
	// members, and AnyCut if there is a cut to restore. Endpoints is how many ready endpoints clients
	// still reach through the Services that are cut.
	Cuts, AllCut, AnyCut bool
	Endpoints            int
	// PeersUnread is true if etcd's member list could not be read, so that no member's PeersDiffer is known.
	PeersUnread bool
	// PeersLag is true if a healthy member has not applied an update of peer URLs yet.
	PeersLag bool
	// Other is how a member that answers differs from the one that its pod had before, as text:
	// "main-1 has another cluster ID". It is empty if none does.
	Other string
}

// At returns the phase that counts. Others than the user of the restart may be able to write the record,
// but not the workload, so the mark decides. Without a mark, the members are not stopped, or the restart
// has ended except for its record.
func (c Coordinated) At() Phase {
	switch {
	case c.Mark != "":
		return c.Mark
	case c.Phase == Starting:
		return Starting
	}
	return Scheduled
}

// NextCoordinated returns the next act of a coordinated restart, with the reason and a message. The
// rows of docs/rules/restart.md are in the same order; the first that applies wins.
func NextCoordinated(c Coordinated) (Act, policy.Verdict) {
	switch phase := c.At(); {
	case c.fewer() && (c.Abort || c.Phase != Scheduled):
		return Refuse, policy.Refuse(MarkMissing, "it has %s, the record has %d, and no mark shows that this restart has changed them", policy.Count(c.Replicas, "replica"), c.Size)
	case c.Abort && c.untouched():
		if at, ok := c.NextUpdate(); ok {
			return c.update(at)
		}
		return c.end(policy.Allow(RestartAborted, "no member was stopped"))
	case phase == Stopping:
		return c.stopping()
	case phase == Starting:
		return c.starting()
	case c.Abort:
		return EnterStarting, policy.Allow(RestartAborted, "another client has removed replicas, and they start again")
	}
	return c.scheduled()
}

// fewer reports whether there are fewer replicas than before, and no mark shows that this restart removed them.
func (c Coordinated) fewer() bool { return c.Mark == "" && c.Replicas < c.Size }

func (c Coordinated) scheduled() (Act, policy.Verdict) {
	v := c.mayStopAll()
	switch {
	case !v.Allowed:
		return Refuse, v
	case c.Mark == "":
		return MarkWorkload, v
	case c.Cuts && !c.AllCut:
		return CutTraffic, v
	case c.Cuts && c.Endpoints > 0:
		return Await, policy.Allow(policy.ClientTrafficCut, "the Services still have %s", policy.Count(c.Endpoints, "ready endpoint"))
	}
	if at, ok := c.NextUpdate(); ok {
		return c.update(at)
	}
	if c.PeersUnread && c.quorate() {
		return Await, policy.Allow(PeersUpdated, "etcd's member list can't be read")
	}
	if c.PeersLag {
		return Await, policy.Allow(PeersUpdated, "a member has not applied the new peer URLs yet")
	}
	return EnterStopping, v
}

// untouched reports whether no member was stopped.
func (c Coordinated) untouched() bool {
	phase := c.At()
	return c.Replicas >= c.Size && (phase == Scheduled || phase == Stopping && !slices.ContainsFunc(c.Members, Member.stopped))
}

// stopped reports whether the member has stopped, or stops, since the restart began.
func (m Member) stopped() bool { return m.Recorded && (!m.Exists || m.New || m.Leaving) }

func (c Coordinated) stopping() (Act, policy.Verdict) {
	switch {
	case c.Abort:
		return EnterStarting, policy.Allow(RestartAborted, "the members that have stopped start again")
	case c.Replicas > 0 && !slices.ContainsFunc(c.Members, Member.stopped):
		// After an --abort that died, the list can have the URLs from before again.
		if at, ok := c.NextUpdate(); ok {
			return c.update(at)
		}
		if c.apart() {
			return Refuse, policy.Refuse(PeersUnreachable, "etcd's member list has the peer URLs of the next pods for only %d of %s, and can't be changed without a quorum",
				c.listed(), policy.Count(len(c.Members), "member"))
		}
		return StopAll, policy.Allow(MembersStopping, "all members stop")
	case c.Replicas > 0:
		return StopAll, policy.Allow(MembersStopping, "all members stop")
	case c.Pods > 0:
		return Await, policy.Allow(MembersStopping, "%s still to stop; no member starts before all have stopped", policy.Count(c.Pods, "pod"))
	}
	return EnterStarting, policy.Allow(MembersStopping, "all members have stopped")
}

// starting brings the members back. An abort does not wait until they are healthy: they may not have
// been before the restart.
func (c Coordinated) starting() (Act, policy.Verdict) {
	if c.Replicas != c.Size && c.Mark != "" {
		return StartAll, policy.Allow(MembersStarting, "all members start")
	}
	if c.Other != "" && !c.Abort {
		return Refuse, policy.Refuse(OtherMember, "%s, so it started with other data than before: client traffic is not restored", c.Other)
	}
	away := func(m Member) bool { return m.Recorded && (!m.Exists || m.Leaving) }
	if i := slices.IndexFunc(c.Members, away); i >= 0 {
		return Await, policy.Allow(MembersStarting, "%s", c.Members[i].awaited())
	}
	if at, ok := c.NextUpdate(); ok {
		return c.update(at)
	}
	if c.Abort {
		return c.end(policy.Allow(RestartAborted, "every member has a pod again"))
	}
	if i := slices.IndexFunc(c.Members, func(m Member) bool { return m.unwell() || m.lags() }); i >= 0 {
		return Await, policy.Allow(MembersStarting, "%s", c.Members[i].awaited())
	}
	if c.PeersUnread && c.Mark != "" {
		return Await, policy.Allow(PeersUpdated, "etcd's member list can't be read, and may have peer URLs that differ from the pods'")
	}
	return c.end(policy.Allow(RestartComplete, "every member is healthy"))
}

// end restores what the restart has changed beside the members.
func (c Coordinated) end(v policy.Verdict) (Act, policy.Verdict) {
	switch {
	case c.Cuts && c.AnyCut && !c.StaysCut():
		return RestoreTraffic, v
	case c.Mark != "":
		return UnmarkWorkload, v
	}
	return Finish, v
}

// StaysCut reports whether the end of the restart leaves client traffic as it is: a member has other
// data, which only a user can judge, or the mark is gone, which was the last step of another command.
func (c Coordinated) StaysCut() bool { return c.At() == Starting && (c.Other != "" || c.Mark == "") }

// mayStopAll returns whether all members may be stopped. A member that is not healthy is no
// objection: it may be what the restart is for. Without a quorum nothing is lost by a stop, as long
// as the data of every member stays.
//
//nolint:gocyclo // one case a row
func (c Coordinated) mayStopAll() policy.Verdict {
	for _, m := range c.Members {
		switch {
		case m.Learner:
			return policy.Refuse(policy.LearnerPresent, "%s is a learner: wait until it is a voter, or remove it", m.Pod)
		case !m.Exists || m.Leaving:
			return policy.Refuse(MemberPodMissing, "%s has no pod that runs, so it is not known whether it would start again", m.Pod)
		}
	}
	healthy := c.healthy()
	voters := max(len(c.Members), c.Cluster.Size)
	quorum := policy.Quorum(voters)
	switch {
	case c.Size < 1:
		return policy.Refuse(policy.OperationUnderWay, "it has no replicas")
	case c.Replicas != c.Size || len(c.Members) != c.Size || voters != c.Size:
		return policy.Refuse(policy.OperationUnderWay, "it has %s, %s and %s, and these numbers must be the same",
			policy.Count(c.Replicas, "replica"), policy.Count(len(c.Members), "pod"), policy.Count(voters, "voter"))
	case c.Intact < c.Size:
		return policy.Refuse(DataAtRisk, "the data of only %d of %s is sure to be there when they start again", c.Intact, policy.Count(c.Size, "member"))
	case c.Cluster.Operation != "":
		return policy.Refuse(policy.OperationUnderWay, "a change is in progress (%s): wait until it ends", c.Cluster.Operation)
	case healthy < quorum && c.apart():
		return policy.Refuse(PeersUnreachable, "%d of %s healthy, quorum is %d, so etcd can't change its member list; it has the peer URLs that their next pods have for only %d of them, so they would not reach each other",
			healthy, policy.Count(voters, "voter"), quorum, c.listed())
	case healthy < quorum:
		return policy.Allow(DataKept, "%d of %s healthy, quorum is %d; every member has its data", healthy, policy.Count(voters, "voter"), quorum)
	case c.fragile():
		return policy.Refuse(policy.MemberDown, "%d of %s healthy: when the peer URLs of half of the members are updated, not all of the others are in contact, so there may be no leader; replace the members that are not healthy first (kubectl etcd member replace POD), or bring them back",
			healthy, policy.Count(voters, "voter"))
	case c.Cluster.BackupReady.Value() == policy.False:
		return policy.Refuse(policy.BackupFailing, "BackupReady is False (%s): recent data may not be in any backup", c.Cluster.BackupReady.Reason)
	}
	return policy.Allow(policy.QuorumKept, "%d of %s healthy, quorum is %d", healthy, policy.Count(voters, "voter"), quorum)
}
