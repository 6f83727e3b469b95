// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package sweep is the rule about what operations leave behind: which objects are left over, and
// which of them may be removed. Its table is docs/rules/sweep.md.
//
// A fact that is not known never allows a removal. Whether an object is left over depends on its
// kind, so each kind has its own facts. Facts of other kinds are not read.
package sweep

import "time"

// Known is a fact that may not be known. The zero Known is that.
type Known int

// The values of a fact.
const (
	Unknown Known = iota
	No
	Yes
)

// Of returns the fact that is known to be true or false.
func Of(is bool) Known {
	if is {
		return Yes
	}
	return No
}

// Kind is what an object is for.
type Kind string

// The kinds, in the order of their rows.
const (
	// Journal is the record of an operation of several steps.
	Journal Kind = "Journal"
	// ClientTraffic is a Service whose selector cuts client traffic.
	ClientTraffic Kind = "ClientTraffic"
	// Suspension is an Etcd that a cut has etcd-druid not reconcile.
	Suspension Kind = "Suspension"
	// Lock is the lock of a cluster.
	Lock Kind = "Lock"
	// Rollout is a StatefulSet whose rollout is held.
	Rollout Kind = "Rollout"
	// Budget is a disruption budget that etcd-webhook created or changed.
	Budget Kind = "Budget"
	// MemberLease is the lease of a member of etcd-druid.
	MemberLease Kind = "MemberLease"
	// VolumeClaim is the volume claim of a member.
	VolumeClaim Kind = "VolumeClaim"
	// HelperPod is a pod through which a restore copies data.
	HelperPod Kind = "HelperPod"
	// KeptData is the old data that restores of a cluster keep.
	KeptData Kind = "KeptData"
)

// Kinds returns all kinds, in their order.
func Kinds() []Kind {
	return []Kind{Journal, ClientTraffic, Suspension, Lock, Rollout, Budget, MemberLease, VolumeClaim, HelperPod, KeptData}
}

// Facts is what is known of one object.
type Facts struct {
	Kind Kind
	// Locked reports whether an operation holds the lock of the object's cluster.
	Locked Known
	// Cluster reports whether the cluster exists.
	Cluster Known
	// Replaced reports whether the StatefulSet of a journal was created again since.
	Replaced Known
	// Aside is true for the journal of a restore that may have set the members' old data aside: nothing else has the
	// name of that data.
	Aside bool
	// InForce reports whether a cut is in force and its end has not passed. For a suspension, it is
	// whether any Service of the namespace is cut.
	InForce Known
	// Installed reports whether etcd-webhook is installed.
	Installed Known
	// Governed reports whether a policy holds the rollouts of the cluster.
	Governed Known
	// Well reports whether a held rollout may be released when etcd-webhook is removed, by the rule about
	// rollouts. For kept data, it is whether all members answer and have one leader and one cluster ID. It is
	// Yes for a cluster that is gone.
	Well Known
	// Due reports whether the deadline of kept data has passed.
	Due Known
	// Wanted reports whether the cluster should have the member. All members of a cluster that is
	// scaled to 0 are wanted: their data is to be used again.
	Wanted Known
	// Runs reports whether a pod of the member exists, or a pod uses the volume claim.
	Runs Known
	// Unfinished reports whether an operation on the cluster is unfinished: it has a journal. For a cut and a
	// suspension, it is one that cuts client traffic: a restore or a coordinated restart.
	Unfinished Known
	// Listed reports whether etcd's member list has the member.
	Listed Known
	// Age is the time since the object, or its operation, began.
	Age time.Duration
}

// Recent is how long an operation may take before it counts as interrupted.
const Recent = 24 * time.Hour

// fact is a fact with the question that it answers.
type fact struct {
	known Known
	what  string
}

// needed returns the facts without which nothing of the kind is removed.
func (f Facts) needed() []fact {
	locked := fact{f.Locked, "whether an operation holds the lock of its cluster"}
	cluster := fact{f.Cluster, "whether its cluster exists"}
	installed := fact{f.Installed, "whether etcd-webhook is installed"}
	unfinished := fact{f.Unfinished, "whether an operation on its cluster is unfinished"}
	switch f.Kind {
	case Journal:
		return []fact{cluster, {f.Replaced, "whether its StatefulSet was created again"}, locked}
	case ClientTraffic:
		return []fact{cluster, {f.InForce, "whether the cut is in force"}, unfinished, locked}
	case Suspension:
		return []fact{{f.InForce, "whether client traffic is cut"}, unfinished, locked}
	case Lock:
		return []fact{cluster, locked}
	case Rollout:
		return []fact{installed, cluster, {f.Governed, "whether a policy holds it"}, {f.Well, "whether its cluster is well"}, locked}
	case Budget:
		return []fact{installed, locked}
	case MemberLease, VolumeClaim:
		return []fact{
			{f.Wanted, "whether the cluster should have its member"}, {f.Runs, "whether a pod uses it"}, unfinished,
			{f.Listed, "whether etcd has its member"}, locked,
		}
	case HelperPod:
		return []fact{unfinished, locked}
	case KeptData:
		facts := []fact{{f.Due, "whether its deadline has passed"}, unfinished, locked}
		if f.Due == Yes {
			facts = append(facts, fact{f.Well, "whether the cluster is healthy"})
		}
		return facts
	}
	return []fact{{Unknown, "what it is"}}
}

// unknown returns the first question that is not answered, empty for none.
func (f Facts) unknown() string {
	for _, n := range f.needed() {
		if n.known != No && n.known != Yes {
			return n.what
		}
	}
	return ""
}
