// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// row is a row of the table.
type row struct {
	id     string
	reason policy.Reason
	holds  func(*state) bool
	// title, evidence, about, events and action fill in the Scenario. about may be nil.
	title    func(*state) string
	evidence func(*state) []Evidence
	about    func(*state) []Member
	action   func(*state) Action
}

// rows are all rows, the most urgent first. A row for a state that DEP-01 doesn't have is between
// the rows that are as urgent.
var rows = []row{
	hibernated, splitBrain, quorumLost, quorumReturns, beganAgain, unclear, bootstraps, interrupted,
	minorityDown, alarmRaised, misaddressed, notMember, superfluous, learnerLeft, minorityReturns, underWay, scaleBlocked, backupFails, unreadyButWell,
	trafficCut, scaleUp, scaleDown, podsDiffer, suspendedOperator,
	readyIsOld, allReadyIsOld, readyComes, allReadyComes, podsUnready, unknownForLong, statusBehind, unconfirmed, backupUnknown,
	pink,
}

// scenario returns the scenario of a row that holds.
func (r row) scenario(s *state) Scenario {
	out := Scenario{ID: r.id, Reason: r.reason, Title: r.title(s), Evidence: r.evidence(s), Action: r.action(s)}
	out.Action = s.harmless(out.Action)
	if r.about != nil {
		about := r.about(s)
		for _, m := range about {
			out.Members = append(out.Members, m.Name)
		}
		out.Events = s.eventsOf(about)
	}
	if r.graced() && !s.next.IsZero() {
		out.Until, out.Grace = s.next, "notReadyGracePeriod"
	}
	out.Events = append(out.Events, s.operatorEvents(r.id)...)
	return out
}

// graced reports whether the row is about a grace period of members.
func (r row) graced() bool {
	return r.id == quorumReturns.id || r.id == minorityReturns.id || r.id == minorityDown.id || r.id == quorumLost.id
}

var hibernated = row{
	id: "X-1", reason: Hibernated,
	holds: func(s *state) bool { return s.hibernated() && !s.stopped() },
	title: func(s *state) string {
		if left := s.left(); len(left) > 0 {
			return "The cluster is scaled to 0 members, and " + policy.Plural(len(left), "pod still exists.", "pods still exist.")
		}
		return "The cluster is scaled to 0 members."
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.sizes("0"), {Fact: "pods", Asked: "0", Observed: fmt.Sprint(len(s.left())), Met: len(s.left()) == 0}}
	},
	action: func(s *state) Action {
		switch {
		case len(s.left()) == 0:
			return Action{Do: Nothing, Why: "No member is asked for."}
		case s.reports() && s.Unreconciled:
			return s.scale("")
		}
		return Action{Do: Wait, Why: "The pods stop."}
	},
}

// stopped reports whether an operation of this program, which starts the members again, has stopped all of them. Where it
// stops those of an operator, the number of desired members stays, and no pod shows it.
func (s *state) stopped() bool {
	if s.hibernated() {
		return s.Interrupted || s.CutsTraffic && s.Operation != ""
	}
	unseen := func(m Member) bool { return m.Pod == PodUnseen }
	return s.Operation != "" && s.CutsTraffic && !s.Replaced && len(s.left()) == 0 && len(s.where(unseen)) == 0
}

// awake guards a row that is about a cluster with members, which no operation of this program has stopped.
func awake(holds func(*state) bool) func(*state) bool {
	return func(s *state) bool { return !s.hibernated() && !s.stopped() && holds(s) }
}

// whole guards a row that counts members of one etcd cluster. Those of several are not counted together.
func whole(holds func(*state) bool) func(*state) bool {
	return awake(func(s *state) bool { return s.Clusters <= 1 && holds(s) })
}

var pink = row{
	id: "S-1", reason: PinkOfHealth,
	holds: whole(func(s *state) bool {
		return s.voters == s.Desired && s.allReady() && s.Replicas == s.Desired && s.ReadyPods == s.Desired &&
			len(s.superfluous)+len(s.outside)+len(s.learners)+len(s.unreadyWell)+len(s.outOfSync())+len(s.longUnknown())+len(s.unreadyPods()) == 0 &&
			good(s.Ready) && good(s.AllMembersReady) && good(s.BackupReady) && s.Operation == "" && !s.Interrupted && !s.TrafficCut &&
			len(s.Alarms)+len(s.Misaddressed) == 0 && !s.suspended()
	}),
	title: func(s *state) string {
		return policy.Count(s.voters, "member") + ", all healthy: nothing is to be done."
	},
	evidence: func(s *state) []Evidence {
		return append([]Evidence{
			s.sizes("as many as desired"), s.pods("all", true), s.members("all", true), s.leases(),
		}, s.conditions(policy.True, policy.True)...)
	},
	action: func(*state) Action { return Action{Do: Nothing, Why: "Nothing is to be done."} },
}

// good reports whether a condition has nothing against a healthy cluster. Without an operator that
// reports them, there are none.
func good(c policy.Condition) bool { return c.Value() == policy.True || c.Value() == policy.Absent }
