// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var notMember = row{
	id: "X-8", reason: PodNotMember,
	holds: whole(func(s *state) bool {
		return len(s.outside) > 0 && (s.Operation == "" || s.HeldRollout && !s.Interrupted)
	}),
	title: func(s *state) string {
		return policy.Names(names(s.outside), "is a pod, but not a member of etcd", "are pods, but not members of etcd") + "."
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{{Fact: "pods that etcd's list lacks", Asked: "1 or more", Observed: fmt.Sprint(len(s.outside)), Met: true}, s.noOperation()}
	},
	about:  func(s *state) []Member { return s.outside },
	action: func(s *state) Action { return s.join(s.outside[0]) },
}

// superfluous has DEP-01's m > n for what remains of a member: its entry in the status, its lease,
// and its entry in etcd's list.
var superfluous = row{
	id: "S-13", reason: Superfluous,
	holds: whole(func(s *state) bool { return len(s.superfluous) > 0 && s.Operation == "" }),
	title: func(s *state) string {
		return fmt.Sprintf("The cluster should have %s, and %s without a pod.", policy.Count(s.Desired, "member"), policy.Names(names(s.superfluous), "is left over", "are left over"))
	},
	evidence: func(s *state) []Evidence {
		listed, leases, entries := 0, 0, 0
		for _, m := range s.superfluous {
			listed += one(m.Listed == Voter || m.Listed == Learner)
			leases += one(m.Lease != NoLease)
			entries += one(m.Status != StatusNone)
		}
		return []Evidence{
			s.sizes(""), s.pods("all", s.ReadyPods == s.Replicas), s.noOperation(),
			{Fact: "beyond the desired size", Asked: "1 or more entries", Observed: fmt.Sprintf("%d in etcd's list, %d in the status, %s", listed, entries, policy.Count(leases, "lease")), Met: true},
		}
	},
	about:  func(s *state) []Member { return s.superfluous },
	action: func(s *state) Action { return s.sweep(s.superfluous[0]) },
}

var learnerLeft = row{
	id: "X-9", reason: LearnerLeft,
	holds: whole(func(s *state) bool { return len(s.learners) > 0 && s.Operation == "" }),
	title: func(s *state) string {
		return policy.Names(names(s.learners), "is a learner", "are learners") + " that no operation is about to promote."
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{{Fact: "learners", Asked: "1 or more", Observed: fmt.Sprint(len(s.learners)), Met: true}, s.noOperation()}
	},
	about:  func(s *state) []Member { return s.learners },
	action: func(s *state) Action { return s.promote(s.learners[0]) },
}

var underWay = row{
	id: "X-10", reason: UnderWay,
	holds: func(s *state) bool {
		return s.Operation != "" && !s.Interrupted && (s.stopped() || !s.hibernated() && s.Clusters <= 1)
	},
	title: func(s *state) string { return "A change is under way: " + s.Operation + "." },
	evidence: func(s *state) []Evidence {
		return []Evidence{{Fact: "operation", Asked: "under way", Observed: s.Operation, Met: true}, s.sizes("")}
	},
	action: func(s *state) Action {
		why := "Wait until the change is complete."
		if len(s.Continuing) > 0 {
			why += " If the program that makes it has stopped, continue it or undo it: " + strings.Join(s.Continuing, "; ")
		}
		return Action{Do: Wait, Why: why}
	},
}

var scaleBlocked = row{
	id: "X-11", reason: ScaleBlocked,
	holds: whole(func(s *state) bool { return s.ListKnown && s.Desired != s.voters && !s.allReady() }),
	title: func(s *state) string {
		return fmt.Sprintf("The cluster should have %s and has %d, and it can't be scaled while a member is not ready.", policy.Count(s.Desired, "member"), s.voters)
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.sizes("different"), s.members("not all", true)}
	},
	action: func(*state) Action {
		return Action{Do: Check, Why: "Repair the member first. DEP-01 scales healthy clusters only."}
	},
}

var scaleUp = row{
	id: "S-11", reason: ScaleUp,
	holds: whole(func(s *state) bool { return s.Desired > s.voters && s.allReady() }),
	title: func(s *state) string {
		return fmt.Sprintf("The cluster is healthy and has %d of %s.", s.voters, policy.Count(s.Desired, "desired member"))
	},
	evidence: func(s *state) []Evidence {
		return append([]Evidence{s.sizes("fewer than desired"), s.members("all", true), s.leases()}, s.conditions(policy.True, policy.True)...)
	},
	action: func(s *state) Action { return s.scale("The new members join one after the other, as learners first.") },
}

var scaleDown = row{
	id: "S-12", reason: ScaleDown,
	holds: whole(func(s *state) bool { return s.Desired < s.voters && s.allReady() }),
	title: func(s *state) string {
		title := fmt.Sprintf("The cluster is healthy and has %s, %d more than desired", policy.Count(s.voters, "member"), s.voters-s.Desired)
		if s.reports() || s.Operation != "" {
			title += fmt.Sprintf(": ordinals %d to %d are removed", s.Desired, s.voters-1)
		}
		return title + "."
	},
	evidence: func(s *state) []Evidence {
		return append([]Evidence{s.sizes("more than desired"), s.members("all", true), s.leases()}, s.conditions(policy.True, policy.True)...)
	},
	action: func(s *state) Action {
		return s.scale("The members with the highest ordinals are removed, one after the other.")
	},
}

// podsDiffer is the rest of what S-1 asks of the workload.
var podsDiffer = row{
	id: "X-17", reason: PodsDiffer,
	holds: whole(func(s *state) bool {
		return s.allReady() && s.voters == s.Desired && (s.Replicas != s.Desired || s.ReadyPods != s.Desired && len(s.unreadyWell) == 0)
	}),
	title: func(s *state) string {
		return fmt.Sprintf("%s healthy, as many as desired, and the workload has %s, with %s.",
			policy.Count(s.voters, "member"), policy.Count(s.Replicas, "replica"), policy.Count(s.ReadyPods, "Ready pod"))
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.sizes("as many as desired"), s.pods("different", true), s.members("all", true)}
	},
	action: func(s *state) Action { return s.scale("The workload gets the desired number of replicas.") },
}

// suspendedOperator is what a runbook or a restore leaves that stopped half-way: nothing else shows it.
var suspendedOperator = row{
	id: "X-21", reason: OperatorSuspended,
	holds: whole((*state).suspended),
	title: func(s *state) string {
		return "An annotation suspends " + s.Reporter + ", and it has not acted on the current spec."
	},
	evidence: func(*state) []Evidence {
		return []Evidence{{Fact: "current spec", Asked: "not acted on", Observed: "not acted on", Met: true}, {Fact: "operator", Asked: "suspended", Observed: "suspended", Met: true}}
	},
	action: func(s *state) Action { return s.scale("") },
}

// suspended reports whether a user's annotation keeps the operator from acting on the current spec.
func (s *state) suspended() bool {
	return s.reports() && s.Unreconciled && s.Suspended && !s.SuspendedByCut && s.Operation == ""
}

var backupFails = row{
	id: "X-12", reason: BackupsFail,
	holds: awake(func(s *state) bool { return s.BackupReady.Value() == policy.False }),
	title: func(s *state) string {
		return "Backups fail (" + s.BackupReady.Reason + "): recent data may be in no backup."
	},
	evidence: func(s *state) []Evidence { return []Evidence{s.condition("BackupReady", s.BackupReady, policy.False)} },
	action: func(*state) Action {
		return Action{Do: TakeBackup, Why: "The error of a backup that is taken now shows the cause."}
	},
}

var unreadyButWell = row{
	id: "X-13", reason: UnreadyButWell,
	holds: whole(func(s *state) bool { return len(s.unreadyWell) > 0 }),
	title: func(s *state) string {
		return policy.Names(names(s.unreadyWell), "is healthy in etcd, but its pod is not Ready", "are healthy in etcd, but their pods are not Ready") + "."
	},
	evidence: func(s *state) []Evidence { return []Evidence{s.members("", true), s.pods("not all", true)} },
	about:    func(s *state) []Member { return s.unreadyWell },
	action: func(s *state) Action {
		return Action{Do: InspectPod, Member: s.unreadyWell[0].Name, Why: "Find out which container or probe fails. The member's data is not in question."}
	},
}

// alarmRaised is a cluster that etcd itself has stopped, also one with a quorum and members that are all well.
var alarmRaised = row{
	id: "X-19", reason: AlarmRaised,
	holds: awake(func(s *state) bool { return len(s.Alarms) > 0 }),
	title: func(s *state) string {
		refuses := "etcd refuses writes that may grow the database"
		if slices.Contains(s.Alarms, "CORRUPT") {
			refuses = "etcd refuses all reads and writes"
		}
		return fmt.Sprintf("Alarm %s: %s until it is disarmed.", policy.Names(s.Alarms, "is raised", "are raised"), refuses)
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{{Fact: "alarms", Asked: "1 or more", Observed: strings.Join(s.Alarms, ", "), Met: true}}
	},
	action: func(*state) Action {
		return Action{Do: CureAlarm, Why: "Remove the cause first. If an alarm is disarmed before that, it is raised again, or it hides that the data of members differs."}
	},
}

// misaddressed is a cluster of members that may all be well: as long as they stay connected, a wrong peer URL shows
// nowhere else.
var misaddressed = row{
	id: "X-20", reason: WrongPeerAddress,
	holds: whole(func(s *state) bool { return len(s.Misaddressed) > 0 && s.kept() && s.Operation == "" }),
	title: func(s *state) string {
		return policy.Names(s.Misaddressed, "has a peer URL in etcd's list that does not lead to its pod", "have peer URLs in etcd's list that do not lead to their pods") + "."
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{{Fact: "wrong peer URLs", Asked: "of 1 or more members", Observed: strings.Join(s.Misaddressed, ", "), Met: true}, s.noOperation()}
	},
	action: func(s *state) Action {
		return Action{Do: CorrectPeerURL, Member: s.Misaddressed[0], Why: "The others connect to it only by the list. When the current connections end, they can't connect to it again."}
	},
}

var trafficCut = row{
	id: "X-14", reason: Cut,
	holds: awake(func(s *state) bool { return s.TrafficCut }),
	title: func(*state) string {
		return "Client traffic is cut: no client reaches the cluster through its Service."
	},
	evidence: func(*state) []Evidence {
		return []Evidence{{Fact: "client traffic", Asked: "cut", Observed: "cut", Met: true}}
	},
	action: func(s *state) Action {
		return s.restoreTraffic("If the work is done, restore the traffic. Otherwise, the cut ends at its end time.")
	},
}
