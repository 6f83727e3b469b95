// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var readyIsOld = row{
	id: "S-6", reason: ReadyIsOld,
	holds: awake(func(s *state) bool { return s.lost() && s.Ready.Value() == policy.True }),
	title: func(s *state) string {
		return fmt.Sprintf("The condition Ready is still True, and the quorum is lost: %d of %s healthy.", s.ready, policy.Count(s.voters, "voter"))
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.members("fewer than a quorum", true), s.condition("Ready", s.Ready, policy.True)}
	},
	action: (*state).sync,
}

var allReadyIsOld = row{
	id: "S-4", reason: AllMembersReadyIsOld,
	holds: awake(func(s *state) bool { return s.ready+s.unseen < s.voters && s.AllMembersReady.Value() == policy.True }),
	title: func(s *state) string {
		return fmt.Sprintf("The condition AllMembersReady is still True, and %d of %s healthy.", s.ready, policy.Count(s.voters, "member"))
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.members("not all", true), s.condition("AllMembersReady", s.AllMembersReady, policy.True)}
	},
	action: (*state).sync,
}

var readyComes = row{
	id: "S-5", reason: ReadyComes,
	holds: awake(func(s *state) bool { return s.kept() && s.Ready.Value() == policy.False }),
	title: func(s *state) string {
		return fmt.Sprintf("The condition Ready is still False, and the quorum holds: %d of %s healthy.", s.ready, policy.Count(s.voters, "voter"))
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.members("a quorum", true), s.condition("Ready", s.Ready, policy.False)}
	},
	action: (*state).sync,
}

var allReadyComes = row{
	id: "S-3", reason: AllMembersReadyComes,
	holds: awake(func(s *state) bool { return s.allReady() && s.AllMembersReady.Value() == policy.False }),
	title: func(s *state) string {
		return "The condition AllMembersReady is still False, and all of " + policy.Count(s.voters, "member") + " are healthy."
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.members("all", true), s.leases(), s.condition("AllMembersReady", s.AllMembersReady, policy.False)}
	},
	action: (*state).sync,
}

var podsUnready = row{
	id: "S-8", reason: PodsUnready,
	holds: awake(func(s *state) bool { return len(s.unreadyPods()) > 0 }),
	title: func(s *state) string {
		return "The status still shows Ready for " + strings.Join(names(s.unreadyPods()), ", ") + ", whose pods are not Ready."
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.pods("fewer than desired", s.ReadyPods < s.Replicas), s.statuses(s.unreadyPods())}
	},
	about:  (*state).unreadyPods,
	action: (*state).sync,
}

var unknownForLong = row{
	id: "S-7", reason: UnknownForLong,
	holds: awake(func(s *state) bool { return len(s.longUnknown()) > 0 }),
	title: func(s *state) string {
		return "The status has shown Unknown for " + strings.Join(names(s.longUnknown()), ", ") + " for longer than " + policy.Duration(UnknownGrace) + "."
	},
	evidence: func(s *state) []Evidence { return []Evidence{s.statuses(s.longUnknown())} },
	about:    (*state).longUnknown,
	action: func(s *state) Action {
		until := s.longUnknown()[0].StatusSince.Add(NotReadyGrace)
		if !s.At.Before(until) {
			return s.sync()
		}
		return Action{Do: Wait, Until: until, Why: s.Reporter + " marks the member NotReady then. DEP-01 would have done so by now."}
	},
}

var statusBehind = row{
	id: "S-2", reason: StatusBehind,
	holds: awake(func(s *state) bool { return len(s.outOfSync()) > 0 }),
	title: func(s *state) string {
		return "The status of " + policy.Names(names(s.outOfSync()), "doesn't", "don't") + " follow from the leases."
	},
	evidence: func(s *state) []Evidence { return []Evidence{s.leases(), s.statuses(s.outOfSync())} },
	about:    (*state).outOfSync,
	action:   (*state).sync,
}

var unconfirmed = row{
	id: "X-15", reason: Unconfirmed,
	holds: awake((*state).unconfirmed),
	title: func(s *state) string { return s.Reporter + " gives no current status of the members." },
	evidence: func(s *state) []Evidence {
		return []Evidence{s.condition("Ready", s.Ready, policy.Unknown), s.condition("AllMembersReady", s.AllMembersReady, policy.Unknown)}
	},
	action: func(s *state) Action {
		return Action{Do: InspectOperator, Why: s.Reporter + " confirms its conditions every " + policy.Duration(syncPeriod) + ". It is down, can't write, or knows of no member."}
	},
}

var backupUnknown = row{
	id: "X-16", reason: BackupsUnknown,
	holds: awake(func(s *state) bool { return s.BackupReady.Value() == policy.Unknown }),
	title: func(*state) string { return "It is not known whether backups succeed." },
	evidence: func(s *state) []Evidence {
		return []Evidence{s.condition("BackupReady", s.BackupReady, policy.Unknown)}
	},
	action: func(s *state) Action {
		if s.BackupReady.Status != policy.Unknown {
			return Action{Do: InspectOperator, Why: "The condition is too old to show anything."}
		}
		return Action{Do: Wait, Until: s.At.Add(policy.EvidenceLimit), Why: "Around each full snapshot BackupReady is Unknown for a moment. If it stays so, take a backup."}
	},
}
