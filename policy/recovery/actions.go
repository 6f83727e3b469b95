// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// await is the wait for members to come back. A pod that can't start is inspected meanwhile.
func (s *state) await(members []Member) Action {
	a := Action{Do: Wait, Until: s.next, Why: "It comes back by itself, or the grace period ends."}
	for _, m := range members {
		if m.down() {
			a.Do, a.Member = InspectPod, m.Name
			a.Why = "Its pod doesn't run. Find out why. Change nothing else before the grace period ends."
			return a
		}
	}
	return a
}

// cure is the least action on a member that is not well while the others have a quorum. A pod that
// doesn't run is inspected, since a pod in its place wouldn't run either. Data is replaced only if it
// is known to be lost, and a pod deleted only if its data is known to stay.
func (s *state) cure(m Member) Action {
	a := Action{Do: InspectPod, Member: m.Name}
	switch {
	case s.TrafficCut && s.Druid:
		return Action{Do: RestoreTraffic, Why: "While client traffic is cut, the sidecar of a member that restarts reaches no other member."}
	case m.Pod == PodMissing || m.Pod == PodPending || m.Pod == PodStopping || m.Pod == PodUnseen:
		a.Why = "Its pod doesn't run. Find out why: " + orUnknown(m.Detail)
	case m.lost() && m.MayRemove && !s.TrafficCut:
		a.Do, a.Why = Replace, "Its data is lost: "+orUnknown(m.Damage)
	case m.lost():
		a.Why = "Its data is lost (" + orUnknown(m.Damage) + "), and it can't be replaced now."
	case m.Pod == PodWaiting:
		a.Why = "Its container doesn't stay up. Find out why: " + orUnknown(m.Detail)
	case m.Data == DataValid && s.Operation == "":
		a.Do, a.Why = RestartPod, "It has not come back by itself. A new pod starts with the same volume."
	default:
		a.Why = "Find out why it is not ready: " + orUnknown(m.Detail)
	}
	return a
}

func orUnknown(detail string) string {
	if detail == "" {
		return "no object shows the cause."
	}
	return detail
}

// recover is the least action where the quorum is lost. Nothing is deleted: the data of each member
// may be the newest. Members with their data come first, then what a survivor has, then backups.
func (s *state) recover() Action {
	down := slices.Concat(s.past, s.waiting)
	gone := 0
	for _, m := range down {
		gone += one(m.lost())
	}
	if s.ScaledIn {
		return Action{Do: ScaleBack, Why: "Voters were scaled away. They still have their data, and more replicas bring them back."}
	}
	if s.voters-gone >= s.quorum {
		a := Action{Do: InspectPod, Why: fmt.Sprintf("The data of %d of %s seems to be there. Bring these members back, and change nothing else.", s.voters-gone, policy.Count(s.voters, "voter"))}
		if m, ok := firstDown(down); ok {
			a.Member = m.Name
			if m.Detail != "" {
				a.Why += " " + m.Name + ": " + m.Detail
			}
			return a
		}
		a.Do = Check
		return a
	}
	for _, m := range s.Members {
		if !m.lost() && (m.Answer == NoLeader || m.Answer == Follows) {
			return Action{Do: SaveSnapshot, Member: m.Name, Why: fmt.Sprintf("The data of %d of %s is lost, and this member still answers. Save its data first. Then kubectl etcd snapshot restore-plan prints the steps to restore it.", gone, policy.Count(s.voters, "voter"))}
		}
	}
	if s.Store {
		return Action{Do: ListSnapshots, Why: fmt.Sprintf("The data of %d of %s is lost, and no member answers. A backup has to be restored: kubectl etcd snapshot restore-plan prints the steps.", gone, policy.Count(s.voters, "voter"))}
	}
	a := Action{Do: Check, Why: fmt.Sprintf("The data of %d of %s is lost, no member answers, and no backup is known. Keep all volumes.", gone, policy.Count(s.voters, "voter"))}
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

// join is the least action on a pod whose etcd is no member.
func (s *state) join(m Member) Action {
	switch {
	case s.TrafficCut:
		return Action{Do: RestoreTraffic, Why: "No member can be added while client traffic is cut."}
	case !s.kept():
		return Action{Do: Check, Why: "No member can be added without a quorum."}
	case s.Managed:
		return Action{Do: InspectPod, Member: m.Name, Why: "The program that manages the members has not added it. Its log shows why."}
	}
	return Action{Do: Replace, Member: m.Name, Why: "It was removed from etcd, or never joined, so its data is not the cluster's."}
}

// sweep is the least action on what is left over of a member.
func (s *state) sweep(m Member) Action {
	switch {
	case m.Returns:
		return Action{Do: ScaleBack, Member: m.Name, Why: "It is still a voter and has its data. Run it again, then scale in with kubectl etcd scale, which removes members first."}
	case m.Listed == Voter || m.Listed == Learner:
		if m.Removable && m.MayRemove && m.Answer != Follows {
			return Action{Do: RemoveMember, Member: m.Name, Why: "The leader has lost it, no pod runs it, and the quorum is computed with it."}
		}
		return Action{Do: ListMembers, Member: m.Name, Why: "It can't be removed now: it may be alive, or the others would lose their quorum."}
	case m.Lease != NoLease && s.ListKnown && m.Listed == NotListed:
		return Action{Do: DeleteLease, Member: m.Name, Why: "etcd has no such member, and its lease counts as a member that is down."}
	case m.Lease != NoLease:
		return Action{Do: ListMembers, Member: m.Name, Why: "Its lease is left over. Whether etcd still has the member is not known."}
	}
	return s.sync()
}

func (s *state) promote(m Member) Action {
	switch {
	case m.Pod == PodMissing && m.Removable && m.MayRemove:
		return Action{Do: RemoveMember, Member: m.Name, Why: "No pod runs this learner."}
	case s.Druid || m.Pod != PodReady && m.Pod != PodUnready:
		return Action{Do: InspectPod, Member: m.Name, Why: "It has no vote. Its pod shows why it is not promoted."}
	case s.kept() && m.CaughtUp && m.Answer == Follows:
		return Action{Do: Promote, Member: m.Name, Why: "It has caught up, and nothing else promotes it."}
	}
	return Action{Do: Wait, Member: m.Name, Why: "It has not caught up with the leader yet."}
}

// sync is the wait for etcd-druid to update the status.
func (s *state) sync() Action {
	if s.unconfirmed() {
		return Action{Do: InspectOperator, Why: "etcd-druid updates the status, and gives no sign of life."}
	}
	return Action{Do: Wait, Until: s.At.Add(syncPeriod), Why: "etcd-druid updates the status every " + text(syncPeriod) + "."}
}

func (s *state) scale(why string) Action {
	switch {
	case s.Druid && s.Unreconciled:
		return Action{Do: Reconcile, Why: "etcd-druid has not acted on the current spec: it waits for the annotation."}
	case s.Druid || s.Operation != "":
		return Action{Do: Wait, Why: why}
	}
	return Action{Do: Check, Why: "Pods and members differ in number, and nothing is under way that changes it."}
}
