// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var splitBrain = row{
	id: "X-2", reason: SplitBrain,
	holds: awake(func(s *state) bool { return s.Clusters > 1 }),
	title: func(s *state) string {
		return fmt.Sprintf("The members belong to %d different etcd clusters.", s.Clusters)
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{{Fact: "etcd clusters", Asked: "2 or more", Observed: fmt.Sprint(s.Clusters), Met: true}, s.members("", true)}
	},
	action: func(*state) Action {
		return Action{Do: CompareClusters, Why: "Find out which of them has the right data before anything is stopped or deleted."}
	},
}

// quorumLost is lost for longer than the grace period: the members whose time is not over and whose data is not lost
// are too few to bring the quorum back. f >= n/2 of DEP-01 is the same as fewer than a quorum, for any n.
var quorumLost = row{
	id: "S-10", reason: QuorumLost,
	holds: whole(func(s *state) bool { return s.lost() && s.ready+s.unseen+s.back < s.quorum }),
	title: func(s *state) string {
		return fmt.Sprintf("The quorum is lost and nothing can be written: %d of %s healthy, quorum is %d.", s.ready, policy.Count(s.voters, "voter"), s.quorum)
	},
	evidence: func(s *state) []Evidence {
		f := s.voters - s.ready - s.within
		return append([]Evidence{
			s.sizes(""),
			s.members("fewer than a quorum", true),
			s.pastGrace(fmt.Sprintf("at least half (%d of %d)", (s.voters+1)/2, s.voters), f, 2*f >= s.voters),
		}, s.conditions(policy.False, policy.False)...)
	},
	about:  func(s *state) []Member { return slices.Concat(s.past, s.waiting) },
	action: (*state).recover,
}

var quorumReturns = row{
	id: "X-3", reason: QuorumMayReturn,
	holds: whole(func(s *state) bool { return s.lost() && s.ready+s.unseen+s.back >= s.quorum }),
	title: func(s *state) string {
		return fmt.Sprintf("The quorum is lost and nothing can be written: %d of %s healthy, quorum is %d. %s may still come back by themselves.",
			s.ready, policy.Count(s.voters, "voter"), s.quorum, policy.Count(s.back, "member"))
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.members("fewer than a quorum", true), s.inGrace("enough with their data for a quorum", s.back)}
	},
	about: func(s *state) []Member { return slices.Concat(s.waiting, s.past) },
	action: func(s *state) Action {
		return s.await(slices.DeleteFunc(slices.Clone(s.waiting), func(m Member) bool { return !s.comesBack(m) }))
	},
}

// beganAgain is a quorum whose members lost their data and began a new log. etcd can't distinguish
// two logs of one cluster ID: when the member with the old one returns, one of both is lost.
var beganAgain = row{
	id: "X-18", reason: BeganWithoutData,
	holds: whole((*state).beganAgain),
	title: func(s *state) string {
		if !s.ranBefore() {
			return fmt.Sprintf("The members that answer may have begun without data. %s never started in their log, and %s a volume that is older than theirs. The earlier data may be there, or the cluster was restored by hand since.",
				policy.Names(names(s.predating), "has", "have"), policy.Names(names(s.predating), "has", "have"))
		}
		return fmt.Sprintf("The members that answer began without data, and %s before them. The earlier data can only be there.", policy.Names(names(s.predating), "ran", "ran"))
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{
			s.members("a quorum, not all", true),
			{Fact: s.earlier(), Asked: "1 or more", Observed: strings.Join(names(s.predating), ", "), Met: true},
		}
	},
	about:  func(s *state) []Member { return s.predating },
	action: (*state).keepOldLog,
}

var unclear = row{
	id: "X-4", reason: Unclear,
	holds: whole(func(s *state) bool {
		return s.unseen > 0 || s.kept() && s.hidden > 0 || s.voters == 0 && !s.bootstraps()
	}),
	title: func(s *state) string {
		if s.kept() {
			return fmt.Sprintf("The quorum holds (%d of %s healthy), and nothing is known of %s.", s.ready, policy.Count(s.voters, "voter"), policy.Count(s.unseen+s.hidden, "member"))
		}
		return fmt.Sprintf("Not enough is known to conclude whether the cluster has a quorum: %d of %s healthy, nothing is known of %d.", s.ready, policy.Count(s.voters, "voter"), s.unseen)
	},
	evidence: func(s *state) []Evidence {
		observed := "all of it"
		if len(s.Unread) > 0 {
			observed = "not " + strings.Join(s.Unread, ", ")
		}
		return []Evidence{s.members("known of each", s.unseen+s.hidden == 0), {Fact: "could be read", Asked: "pods, leases, members' answers", Observed: observed, Met: len(s.Unread) == 0}}
	},
	about: func(s *state) []Member { return s.where(func(m Member) bool { return conditionOf(m) == unseen }) },
	action: func(*state) Action {
		return Action{Do: Check, Why: "Find out what could not be read. Change nothing before."}
	},
}

var bootstraps = row{
	id: "X-5", reason: Bootstrapping,
	holds: whole((*state).bootstraps),
	title: func(*state) string { return "The cluster was created a moment ago and has no quorum yet." },
	evidence: func(s *state) []Evidence {
		return []Evidence{
			{Fact: "has had a quorum", Asked: "no", Observed: "no", Met: true},
			{Fact: "created", Asked: "less than " + policy.Duration(NotReadyGrace) + " ago", Observed: policy.Duration(s.At.Sub(s.Created).Round(time.Second)) + " ago", Met: true},
		}
	},
	about: func(s *state) []Member { return s.where(func(m Member) bool { return m.Asked }) },
	action: func(s *state) Action {
		return Action{Do: Wait, Until: s.Created.Add(NotReadyGrace), Why: "The members start and find each other."}
	},
}

// replacedWhy is why an operation has to be removed, and not continued.
const replacedWhy = "Its StatefulSet was created again since it began, so it can be neither continued nor undone. Remove what is left of it. sweep does that 10 minutes after the operation last renewed its lock."

// replacedAside is the same of an operation that may have set the data of members aside.
const replacedAside = "Its StatefulSet was created again since it began, so it can be neither continued nor undone. The members may run without their data, which it may have set aside on their volumes. Restore no client traffic and replace no member before you have checked that. sweep shows the name of that data."

// unstoppedWhy is why a restore is ended, and not continued.
const unstoppedWhy = "The quorum holds, and the restore has changed no data. To continue it would replace data that is well. This command ends it: it changes no data of the members, and restores client traffic. If the snapshot is still to be restored after that, begin again."

var interrupted = row{
	id: "X-6", reason: Interrupted,
	holds: func(s *state) bool { return s.Interrupted && (s.hibernated() || s.Clusters <= 1) },
	title: func(s *state) string { return "An operation of kubectl etcd stopped half-way: " + s.Operation + "." },
	evidence: func(s *state) []Evidence {
		return []Evidence{{Fact: "operation", Asked: "stopped", Observed: s.Operation, Met: true}}
	},
	action: func(s *state) Action {
		if s.Replaced && s.SetsAside {
			return Action{Do: Resume, Why: replacedAside}
		}
		if s.Replaced {
			return Action{Do: Resume, Why: replacedWhy}
		}
		if s.Unstopped && s.kept() {
			return Action{Do: Undo, Why: unstoppedWhy}
		}
		return Action{Do: Resume, Why: "The journal has what is done and what is left. Continue it before anything else."}
	},
}

var minorityDown = row{
	id: "S-9", reason: MinorityDown,
	holds: whole(func(s *state) bool { return s.kept() && !s.beganAgain() && len(s.past) > 0 }),
	title: func(s *state) string {
		return fmt.Sprintf("The quorum holds (%d of %s healthy), and %s.", s.ready, policy.Count(s.voters, "voter"), s.notBack())
	},
	evidence: func(s *state) []Evidence {
		return append([]Evidence{
			s.sizes(""),
			s.members("a quorum, not all", true),
			s.pastGrace(fmt.Sprintf("1 to %d of %d", (s.voters-1)/2, s.voters), len(s.past), true),
		}, s.conditions(policy.True, policy.False)...)
	},
	about:  func(s *state) []Member { return s.past },
	action: (*state).cureFirst,
}

var minorityReturns = row{
	id: "X-7", reason: MayReturn,
	holds: whole(func(s *state) bool { return s.kept() && !s.beganAgain() && len(s.waiting) > 0 }),
	title: func(s *state) string {
		return fmt.Sprintf("The quorum holds (%d of %s healthy), and %s. A grace period runs.", s.ready, policy.Count(s.voters, "voter"), policy.Names(names(s.waiting), "is not ready", "are not ready"))
	},
	evidence: func(s *state) []Evidence {
		return []Evidence{s.members("a quorum, not all", true), s.inGrace("1 or more", s.within)}
	},
	about:  func(s *state) []Member { return s.waiting },
	action: func(s *state) Action { return s.await(s.waiting) },
}
