// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Restart is what a member does when it starts again.
type Restart struct {
	// ID is the row of docs/rules/recovery.md: I-1 to I-8 are DEP-01's.
	ID     string
	Reason policy.Reason
	Member string
	// Evidence is what decides.
	Evidence []Evidence
	// What is what its sidecar or etcd does.
	What string
	// Joins is true if it becomes a healthy member without help.
	Joins bool
}

// restart returns the row for a member. Without an answer about its data or its membership, no row
// is claimed.
//
//nolint:gocyclo // one case a row of the table
func (s *state) restart(m Member) Restart {
	r := Restart{Member: m.Name, Evidence: s.restartEvidence(m)}
	empty := m.lost() || m.Data == DataInPod && m.Pod == PodMissing
	switch {
	case m.Data == DataUnread:
		return r.as("I-10", RestartUnclear, "Its volume could not be read, so it is not known what it does.")
	case s.Clusters > 1:
		return r.as("I-10", RestartUnclear, "The members are of different clusters, so it is not known which one it joins.")
	case m.Data == DataLeaving:
		return r.as("I-10", RestartUnclear, "Its volume claim is being deleted: a container that starts again in the same pod has its data, and a new pod has none.")
	case !s.kept() && !s.lost() && !s.bootstraps():
		return r.as("I-10", RestartUnclear, "It is not known whether the cluster has a quorum, which decides what it does.")
	case s.bootstraps() && m.First:
		return s.bootstrap(r, "I-1", FirstMember)
	case s.bootstraps():
		return s.bootstrap(r, "I-2", NextMember)
	case s.kept() && m.Listed == NotListed:
		return s.newMember(r)
	case s.beganAgain() && !m.Predates && m.OlderVolume:
		return r.as("I-11", MeetsNewLog, "It may have data that the members with the quorum never had. When it runs again, it joins no member of another cluster, or etcd keeps one of the two logs.")
	case s.beganAgain() && m.Predates:
		return r.as("I-11", MeetsNewLog, "It has data that the members with the quorum never had. When it runs again, etcd keeps one of the two logs: what the other has is lost.")
	case s.kept() && !empty:
		r.Joins = true
		return r.as("I-3", KeepsData, "It starts with its data, and gets from the leader what it missed.")
	case s.kept() && m.Listed == ListUnread && !s.Sidecar:
		return r.as("I-10", RestartUnclear, "Its data is lost, and it is not known whether etcd has it as a member.")
	case s.kept() && m.Data == DataDamaged:
		return s.emptyMember(r, "I-4", DamagedData)
	case s.kept():
		return s.emptyMember(r, "I-5", NoMetadata)
	case !empty:
		r.Joins = true
		return r.as("I-6", KeepsDataUnquorate, "It starts with its data, and waits for a quorum.")
	case s.voters == 1 || m.First && !s.anyData(m):
		return s.firstRestored(r)
	}
	return s.nextRestored(r)
}

func (r Restart) as(id string, reason policy.Reason, what string) Restart {
	r.ID, r.Reason, r.What = id, reason, what
	return r
}

// anyData reports whether another member has data or is well.
func (s *state) anyData(than Member) bool {
	for _, m := range s.Members {
		if m.Name != than.Name && s.counts(m) && !m.lost() {
			return true
		}
	}
	return false
}

func (s *state) bootstrap(r Restart, id string, reason policy.Reason) Restart {
	r.Joins = true
	what := fmt.Sprintf("It starts as one of %s of a new cluster.", policy.Count(s.Desired, "member"))
	if s.Sidecar && s.Store {
		what += " According to its source code, its sidecar restores a backup first if the store has one."
	}
	return r.as(id, reason, what)
}

// newMember returns the row of a member that is new: DEP-01's rows are about existing members and new clusters.
func (s *state) newMember(r Restart) Restart {
	if s.Sidecar {
		return r.as("I-9", JoinsAsNew, "It has to be added first. According to its source code, its sidecar does that while the cluster is being scaled out, and not where the member was removed.")
	}
	return r.as("I-9", JoinsAsNew, "etcd refuses it: it has to be added first, and must start without its old data.")
}

// emptyMember returns a member of a cluster with a quorum that has no data, or none that can be read.
func (s *state) emptyMember(r Restart, id string, reason policy.Reason) Restart {
	if s.Sidecar {
		r.Joins = true
		return r.as(id, reason, "According to its source code, its sidecar removes it from etcd, clears its directory and adds it as a learner, which gets the data from the leader. DEP-01 would restore the last full snapshot first.")
	}
	// The way to replace a member is in the next step, if there is one here.
	return r.as(id, reason, "etcd ends with an error: it is a member already, and has lost what it confirmed. Only a new member can replace it.")
}

// firstRestored returns the first member where no quorum and no other data is left. DEP-01 asks for 0
// members in the status; the row also holds where the status still has members that are down.
func (s *state) firstRestored(r Restart) Restart {
	switch {
	case s.Sidecar && s.Store && s.voters == 1:
		r.Joins = true
		return r.as("I-7", RestoresBackup, "According to its source code, its sidecar restores the last full snapshot and the delta snapshots after it. What was written later is lost.")
	case s.Sidecar && s.voters == 1:
		r.Joins = true
		return r.as("I-7", RestoresBackup, "There is no backup store: according to its source code, it starts with an empty database.")
	case s.Sidecar:
		return r.as("I-7", RestoresBackup, "According to its source code, its sidecar tries to remove it from etcd, fails without a quorum, and is started again. It restores a backup only if the cluster is created again with one member.")
	}
	return r.as("I-7", RestoresBackup, "If its flags have a new cluster, etcd starts with an empty database, which is not the cluster's. Otherwise it waits for the others.")
}

// nextRestored returns a member without data while others have some and no quorum. DEP-01 asks for more
// than 1 member; the row also holds for 1.
func (s *state) nextRestored(r Restart) Restart {
	if s.Sidecar {
		return r.as("I-8", WaitsForQuorum, "According to its source code, its sidecar tries to remove it from etcd, fails without a quorum, and is started again until the others have one.")
	}
	return r.as("I-8", WaitsForQuorum, "It can't join without a quorum. Don't start it before the members with data run: with flags for a new cluster it may start with an empty database.")
}

func (s *state) restartEvidence(m Member) []Evidence {
	data := string(m.Data)
	if m.Damage != "" {
		data += ": " + m.Damage
	}
	quorum := "not known"
	switch {
	case s.kept():
		quorum = "kept"
	case s.lost():
		quorum = "lost"
	case s.bootstraps():
		quorum = "never had"
	}
	backup := "no store"
	if s.Store {
		backup = "store, backup exists: " + string(s.Backups)
	}
	return []Evidence{
		{Fact: "quorum", Observed: quorum, Met: true},
		{Fact: "member list", Observed: orNotKnown(string(m.Listed)), Met: true},
		{Fact: "data", Observed: orNotKnown(data), Met: true},
		{Fact: "backups", Observed: backup, Met: true},
	}
}

func orNotKnown(text string) string {
	if text == "" {
		return "not known"
	}
	return text
}
