// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// await returns the wait for members to come back. A pod that can't start is inspected meanwhile.
func (s *state) await(members []Member) Action {
	a := Action{Do: Wait, Until: s.next, Why: "It comes back by itself, or the grace period ends."}
	for _, m := range members {
		if m.down() {
			a.Do, a.Member = InspectPod, m.Name
			a.Why = "Its pod doesn't run. Find out why. Change nothing else before the grace period ends."
			return a
		}
	}
	if i := slices.IndexFunc(members, Member.lost); i >= 0 && !s.Sidecar { // a sidecar adds it again
		a.Why = fmt.Sprintf("%s doesn't come back by itself, because its data is lost (%s). When the grace period ends, diagnose prints what to do.", members[i].Name, orUnknown(members[i].Damage))
	}
	return a
}

// keepOldLog returns the least action while the only data from before may be in a member that is not well.
func (s *state) keepOldLog() Action {
	a := Action{
		Do: InspectPod, Member: s.predating[0].Name,
		Why: "Don't restart, replace or remove it, and delete no pod, claim or volume of it. Keep clients from writing, and copy its data directory before it runs again: etcd then keeps one of the two logs, and the other is lost.",
	}
	if !s.ranBefore() {
		a.Why += " If no user needs that data, member replace prints how to delete it."
	}
	return a
}

// ranBefore reports whether it is certain of all members that may have the data from before that they ran before the
// log of the others began.
func (s *state) ranBefore() bool {
	return !slices.ContainsFunc(s.predating, func(m Member) bool { return !m.Predates })
}

// earlier returns what shows that members may have the data from before.
func (s *state) earlier() string {
	if s.ranBefore() {
		return "ran before those that answer, and never started in etcd's list"
	}
	return "have older volumes than those that answer, and never started in etcd's list"
}

// harmless returns an action that changes no member while the only data from before may be in one.
func (s *state) harmless(a Action) Action {
	switch a.Do {
	case RestartPod, Replace, RemoveMember, DeleteLease, Promote, ScaleBack, CorrectPeerURL:
		if s.beganAgain() {
			return s.keepOldLog()
		}
	case Nothing, Wait, InspectPod, InspectOperator, Check, CompareClusters, ListMembers, ListSnapshots, SaveSnapshot, TakeBackup, CureAlarm, Resume, Undo,
		Reconcile, EndSuspension, RestoreTraffic, Recover:
	}
	return a
}

// cure returns the least action on a member that is not well while the others have a quorum. A pod that
// doesn't run is inspected, since a pod in its place wouldn't run either. Data is replaced only if it
// is known to be lost, and a pod deleted only if its data is known to stay.
func (s *state) cure(m Member) Action {
	a := Action{Do: InspectPod, Member: m.Name}
	switch {
	case s.TrafficCut && s.Sidecar:
		return s.restoreTraffic("While client traffic is cut, the sidecar of a member that restarts reaches no other member.")
	case m.Pod == PodMissing || m.Pod == PodPending || m.Pod == PodStopping || m.Pod == PodUnseen:
		a.Why = "Its pod doesn't run. Find out why: " + orUnknown(m.Detail)
	case m.lost() && m.MayRemove && !s.TrafficCut:
		a.Do, a.Why = Replace, "Its data is lost: "+orUnknown(m.Damage)
	case m.lost():
		a.Why = "Its data is lost (" + orUnknown(m.Damage) + "), and it can't be replaced now."
	case m.Pod == PodWaiting:
		a.Why = "Its container doesn't stay up. Find out why: " + orUnknown(m.Detail)
	case m.Data == DataLeaving:
		a.Why = "Its data is lost when its pod ends (" + orUnknown(m.Damage) + "). Find out why it is not ready, and don't delete the pod."
	case s.mayRestart(m):
		a.Do, a.Why = RestartPod, m.silentWhy()+" A new pod starts with the same volume."
	default:
		a.Why = "Find out why it is not ready: " + orUnknown(m.Detail)
	}
	return a
}

// cureFirst returns the action for the first member with one that repairs it, and otherwise for the first.
func (s *state) cureFirst() Action {
	for _, m := range s.past {
		if a := s.cure(m); a.Do != InspectPod {
			return a
		}
	}
	return s.cure(s.past[0])
}

// silentWhy returns why a member is restarted.
func (m Member) silentWhy() string {
	if m.Since.IsZero() {
		return "etcd's leader has no contact with it, and no object shows since when."
	}
	return "It has not come back by itself."
}

// mayRestart reports whether another pod for a member can only help: etcd's leader has lost
// the member, it was asked itself, its data stays, and the containers beside it start.
func (s *state) mayRestart(m Member) bool {
	return !m.SidecarWaits && m.Data == DataValid && s.Operation == "" && s.ListKnown && m.Restarts && m.OutOfContact && m.Answer != NotAsked
}

func orUnknown(detail string) string {
	if detail == "" {
		return "no object shows the cause."
	}
	return detail
}

// join returns the least action on a pod whose etcd is no member.
func (s *state) join(m Member) Action {
	switch {
	case m.Ahead:
		return Action{Do: InspectPod, Member: m.Name, Why: "etcd's list doesn't have it, and it is ahead of the leader: the leader may have begun again without data, and this member may have the only data. Don't restart, replace or remove it, and delete no pod, claim or volume of it. Copy its data directory first."}
	case s.TrafficCut:
		return s.restoreTraffic("No member can be added while client traffic is cut.")
	case !s.kept():
		return Action{Do: Check, Why: "No member can be added without a quorum."}
	case s.Managed:
		return Action{Do: InspectPod, Member: m.Name, Why: "The program that manages the members has not added it. Its log shows why."}
	}
	if m.Answer != NoLeader && !m.lost() {
		return Action{Do: InspectPod, Member: m.Name, Why: "etcd's list doesn't have it, and it does not answer. Find out whether its data belongs to another cluster before it is replaced."}
	}
	return Action{Do: Replace, Member: m.Name, Why: "It was removed from etcd, or never joined, so its data is not the cluster's."}
}

// sweep returns the least action on what is left over of a member.
func (s *state) sweep(m Member) Action {
	switch {
	case m.Returns:
		return Action{Do: ScaleBack, Member: m.Name, Why: "It is still a voter, and its volume claim is there. Run it again, then scale in with kubectl etcd scale, which removes members first."}
	case m.Listed == Voter || m.Listed == Learner:
		if m.Removable && m.MayRemove && m.Answer != Follows {
			return Action{Do: RemoveMember, Member: m.Name, Why: "The leader has lost contact with it, no pod runs it, and the quorum is computed with it."}
		}
		return Action{Do: ListMembers, Member: m.Name, Why: "It can't be removed now: it may be alive, or the others would lose their quorum."}
	case m.Lease != NoLease && s.ListKnown && m.Listed == NotListed:
		return Action{Do: DeleteLease, Member: m.Name, Why: "etcd has no such member, and its lease counts as a member that is down." + s.protection()}
	case m.Lease != NoLease:
		return Action{Do: ListMembers, Member: m.Name, Why: "Its lease is left over. It is not known whether etcd still has the member."}
	}
	return s.sync()
}

func (s *state) promote(m Member) Action {
	switch {
	case m.Pod == PodMissing && m.Removable && m.MayRemove:
		return Action{Do: RemoveMember, Member: m.Name, Why: "No pod runs this learner."}
	case s.Sidecar || m.Pod != PodReady && m.Pod != PodUnready:
		return Action{Do: InspectPod, Member: m.Name, Why: "It has no vote. Its pod shows why it is not promoted."}
	case s.kept() && m.CaughtUp && m.Answer == Follows:
		return Action{Do: Promote, Member: m.Name, Why: "It has caught up, and nothing else promotes it."}
	}
	return Action{Do: Wait, Member: m.Name, Why: "It has not caught up with the leader yet."}
}

// protection returns who may delete a lease that the operator protects, as a sentence after another.
func (s *state) protection() string {
	if !s.reports() {
		return ""
	}
	return " If " + s.Reporter + "'s component protection denies it, a service account that the protection exempts can delete it."
}

// sync returns the wait for the operator to update the status.
func (s *state) sync() Action {
	if s.unconfirmed() {
		return Action{Do: InspectOperator, Why: s.Reporter + " updates the status, and gives no sign of life."}
	}
	return Action{Do: Wait, Until: s.At.Add(syncPeriod), Why: s.Reporter + " updates the status every " + policy.Duration(syncPeriod) + "."}
}

func (s *state) scale(why string) Action {
	switch {
	case s.reports() && s.Unreconciled && s.SuspendedByCut:
		return s.restoreTraffic("The traffic cut has suspended " + s.Reporter + ": it doesn't act on the spec before client traffic is restored.")
	case s.reports() && s.Unreconciled && s.Suspended:
		return Action{Do: EndSuspension, Why: "An annotation suspends " + s.Reporter + ": it doesn't act on the spec. If the work for which it was set is done, remove it."}
	case s.reports() && s.Unreconciled && s.Requested:
		return s.sync()
	case s.reports() && s.Unreconciled:
		return Action{Do: Reconcile, Why: s.Reporter + " has not acted on the current spec: it waits for the annotation."}
	case s.reports() || s.Operation != "":
		return Action{Do: Wait, Why: why}
	}
	return Action{Do: Check, Why: "The number of pods differs from the number of members, and no operation is under way that changes it."}
}

// restoreTraffic ends the cut of client traffic. The operation that cut it does that at its end.
func (s *state) restoreTraffic(why string) Action {
	switch {
	case !s.CutsTraffic:
		return Action{Do: RestoreTraffic, Why: why}
	case s.Interrupted && s.Replaced && s.SetsAside:
		return Action{Do: Resume, Why: replacedAside}
	case s.Interrupted && s.Replaced:
		return Action{Do: Resume, Why: replacedWhy + " Then restore client traffic."}
	case s.Interrupted && s.Unstopped && s.kept():
		return Action{Do: Undo, Why: unstoppedWhy}
	case s.Interrupted:
		return Action{Do: Resume, Why: "The operation that stopped half-way restores client traffic at its end. Before that, clients could reach members without data."}
	}
	return Action{Do: Wait, Why: "The operation that is under way restores client traffic at its end."}
}
