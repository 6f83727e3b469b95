// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Contact is what the members that answer show of another one. The zero value means that it is
// unknown.
type Contact int

// The contacts.
const (
	ContactUnknown Contact = iota
	// ContactNone means that the leader has no connection with the member.
	ContactNone
	// ContactSilent means that the leader has a connection and receives nothing over it.
	ContactSilent
	// ContactActive means that the leader receives messages from the member.
	ContactActive
	// ContactLeads means that members that answer follow the member as their leader.
	ContactLeads
	// ContactAnswers means that the member itself answers, in one of Elsewhere.
	ContactAnswers
)

// Silence is what is known of a voter that doesn't answer the plugin.
type Silence struct {
	// Pod is the pod of the cluster that runs the voter or will run it again, empty for none. Forced is true if the
	// user insists on its removal nevertheless.
	Pod    string
	Forced bool
	// Lost is true if the user declares that the voter can't come back, although nothing shows where it ran.
	Lost bool
	// Elsewhere are pods of the namespace that have the voter's name or peer address and are
	// not among the cluster's.
	Elsewhere []string
	// Stopped is the workload that has no replica for the voter, and that runs it again with its data
	// when it is scaled up, empty for none. Replicas is how many it needs for that.
	Stopped  string
	Replicas int
	// StoppedPerhaps is true if it is only possible that Stopped is the workload.
	StoppedPerhaps bool
	// Predates is true for a voter that ran before the members that answer began without data: it alone can have the
	// data from before.
	Predates bool
	// OlderVolume is true for a voter that has never started in the log of the members that answer, and whose volume is
	// older than theirs: it may have the data from before.
	OlderVolume bool
	// VolumesUnread is why it is not known whether it has an older volume. That is no evidence for it. It is empty
	// where that is known.
	VolumesUnread string
	// Contact is what the leader shows of the voter. Unknown is why it shows nothing, or why
	// the pods are not known; empty where all is known.
	Contact Contact
	Unknown string
}

// IsDead decides whether a voter that doesn't answer may be treated as dead. The plugin may
// fail to reach or to recognise a pod whose etcd is healthy, so the leader must have lost
// the voter as well.
func IsDead(s Silence) policy.Verdict {
	if why := s.alive(); why != "" {
		return policy.Refuse(VoterAlive, "it is alive: %s", why)
	}
	switch {
	case s.Predates:
		return policy.Refuse(VoterHasOldData, "it ran before the members that answer began without data, and only it can have the earlier data")
	case s.OlderVolume:
		return policy.Refuse(VoterHasOldData, "it has never started in the log of the members that answer, and its volume is older than theirs: it may have the earlier data, or the cluster was restored by hand since. If you don't need that data, delete its volume claim first")
	case s.Pod == "" && len(s.Elsewhere) > 0:
		return policy.Refuse(VoterElsewhere, "it can still run: its name or peer address is that of pod %s", strings.Join(s.Elsewhere, " and "))
	case s.Contact == ContactSilent && (s.Pod == "" || !s.Forced):
		return policy.Refuse(VoterElsewhere, "it can still run: the leader has a connection with it")
	case s.Stopped != "" && !s.Forced:
		return policy.Refuse(VoterStopped, "%s has no replica for it, and runs it again with its data when it is scaled to %d", s.Stopped, s.Replicas)
	case s.Lost && s.Declarable():
		return policy.Allow(policy.CuresMember, "the leader has no connection with it, and it is declared to be lost")
	case s.Unknown != "" || s.Contact == ContactUnknown:
		return policy.Refuse(VoterUnknown, "it is not known whether it is dead: %s", s.Unknown)
	}
	return s.withoutContact()
}

// alive returns how a voter shows that it is alive, as a clause. It is empty if it shows nothing.
func (s Silence) alive() string {
	switch s.Contact {
	case ContactLeads:
		return "it is the leader of the members that answer"
	case ContactAnswers:
		return "it answers in pod " + strings.Join(s.Elsewhere, " and ")
	case ContactActive:
		return "the leader receives messages from it"
	case ContactNone, ContactSilent, ContactUnknown:
	}
	return ""
}

// withoutContact judges a voter with which the leader is known to have no connection.
func (s Silence) withoutContact() policy.Verdict {
	if s.Pod != "" && !s.Forced {
		return policy.Refuse(VoterHasPod, "its pod %s exists or will be created again, so it may come back with its data", s.Pod)
	}
	return policy.Allow(policy.CuresMember, "the leader has lost contact with it")
}

// Declarable reports whether only a person can find out if a voter is dead: the leader has no connection with it,
// and what is not known is where it runs. If the leader's metrics can't be read, no declaration replaces them.
func (s Silence) Declarable() bool {
	return s.Unknown != "" && s.Contact == ContactNone && s.Pod == "" && len(s.Elsewhere) == 0 && s.Stopped == ""
}
