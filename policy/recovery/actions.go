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
	return Action{
		Do: InspectPod, Member: s.predating[0].Name,
		Why: "Don't restart, replace or remove it, and delete no pod, claim or volume of it. Keep clients from writing, and copy its data directory before it runs again: etcd then keeps one of the two logs, and the other is lost.",
	}
}

// harmless returns an action that changes no member while the only data from before may be in one.
func (s *state) harmless(a Action) Action {
	switch a.Do {
	case RestartPod, Replace, RemoveMember, DeleteLease, Promote, ScaleBack, CorrectPeerURL:
		if s.beganAgain() {
			return s.keepOldLog()
		}
	case Nothing, Wait, InspectPod, InspectOperator, Check, CompareClusters, ListMembers, ListSnapshots, SaveSnapshot, TakeBackup, CureAlarm, Resume,
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

// silentWhy returns why a member is restarted.
func (m Member) silentWhy() string {
	if m.Since.IsZero() {
		return "etcd's leader has no contact with it, and no object shows since when."
	}
	return "It has not come back by itself."
}

// mayRestart reports whether another pod for a member can only help: etcd's leader has lost
// the member, it was asked itself, and its data stays.
func (s *state) mayRestart(m Member) bool {
	return m.Data == DataValid && s.Operation == "" && s.ListKnown && m.Restarts && m.OutOfContact && m.Answer != NotAsked
}

func orUnknown(detail string) string {
	if detail == "" {
		return "no object shows the cause."
	}
	return detail
}

// recover returns the least action where the quorum is lost. Nothing is deleted: the data of each member
// may be the newest. Members with their data come first, then what survivors have, then backups.
func (s *state) recover() Action {
	gone, leaving := s.AwayGone, 0
	for _, m := range slices.Concat(s.past, s.waiting) {
		gone += one(m.lost())
		leaving += one(m.Data == DataLeaving)
	}
	voters := policy.Count(s.voters, "voter")
	lost := fmt.Sprintf("The data of %d of %s is lost", gone, voters)
	if leaving > 0 {
		lost = fmt.Sprintf("The data of %d of %s is lost now or when their pods end", gone+leaving, voters)
	}
	survivors := names(s.where(func(m Member) bool { return !m.lost() && (m.Answer == NoLeader || m.Answer == Follows) }))
	enough := s.voters-gone >= s.quorum
	switch {
	case s.ScaledIn:
		return Action{Do: ScaleBack, Why: "Voters were scaled away. The volume claims of their pods are there, and more replicas bring them back."}
	case len(survivors) > 0 && s.voters-gone < s.quorum && s.restorable():
		return Action{Do: Recover, Why: fmt.Sprintf("%s, and %s. Delete no pod. The command saves the data of the one that has applied most, and restores it. Replace POD by the pods of the members that can never come back.", lost, policy.Names(survivors, "still answers", "still answer"))}
	case len(survivors) > 0 && s.voters-gone-leaving < s.quorum:
		return Action{Do: SaveSnapshot, Why: fmt.Sprintf("%s, and %s. Save the data of the one that has applied most first, and delete no pod. %s", lost, policy.Names(survivors, "still answers", "still answer"), s.afterSnapshot())}
	case enough && leaving > 0:
		a := s.bringBack(gone)
		a.Why += " Volume claims are being deleted: delete no pod, because the data is deleted with it."
		return a
	case enough:
		return s.bringBack(gone)
	case s.Store:
		return Action{Do: ListSnapshots, Why: lost + ", and no member answers. A backup has to be restored: kubectl etcd snapshot restore FILE NAME."}
	}
	return Action{Do: Check, Why: lost + ", no member answers, and no backup is known. Keep all volumes."}
}

// restorable reports whether kubectl etcd restores into the present members.
func (s *state) restorable() bool { return !s.Bare && !s.inPods() }

// inPods reports whether a member's data ends with its pod. What is restored there would be lost with the next pod, so
// the commands that restore refuse it.
func (s *state) inPods() bool {
	return len(s.where(func(m Member) bool { return m.Data == DataInPod })) > 0
}

// afterSnapshot returns how to restore the data of survivors that has been saved.
func (s *state) afterSnapshot() string {
	switch {
	case s.Bare:
		return "Then restore the file with the program that creates the pods."
	case s.inPods():
		return "Then create another StatefulSet with a volume claim template for the data, and restore the file into it: kubectl etcd snapshot restore FILE NAME."
	}
	return "Then kubectl etcd snapshot restore FILE NAME restores it."
}

// bringBack returns the inspection of the first member to bring back where enough of them have their data.
func (s *state) bringBack(gone int) Action {
	a := Action{Do: Check, Why: fmt.Sprintf("The data of %d of %s seems to exist. Bring these members back, and change nothing else.", s.voters-gone, policy.Count(s.voters, "voter"))}
	m, ok := firstDown(slices.Concat(s.past, s.waiting))
	if !ok {
		return a
	}
	a.Do, a.Member = InspectPod, m.Name
	if m.Detail != "" {
		a.Why += " " + m.Name + ": " + m.Detail
	}
	return a
}

// firstDown returns the member to begin with: one whose pod doesn't run, and that has its data.
func firstDown(down []Member) (Member, bool) {
	for _, is := range []func(Member) bool{
		func(m Member) bool { return m.down() && !m.lost() },
		func(m Member) bool { return !m.lost() && m.Answer != NoLeader },
		func(m Member) bool { return m.down() },
		func(m Member) bool { return m.Pod != PodUnseen },
	} {
		for _, m := range down {
			if is(m) {
				return m, true
			}
		}
	}
	return Member{}, false
}

// join returns the least action on a pod whose etcd is no member.
func (s *state) join(m Member) Action {
	switch {
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
	case s.Interrupted:
		return Action{Do: Resume, Why: "The operation that stopped half-way restores client traffic at its end. Before that, clients could reach members without data."}
	}
	return Action{Do: Wait, Why: "The operation that is under way restores client traffic at its end."}
}
