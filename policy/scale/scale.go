// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package scale is the rule about writes of a cluster's replicas that bypass kubectl etcd
// scale: by kubectl scale, an autoscaler, Helm or any other client. Its table is
// docs/rules/scale.md.
package scale

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Volumes is what becomes of the data of members whose replica is removed.
type Volumes string

// The kinds. The zero value means that the volume claims stay.
const (
	Retained Volumes = ""
	// Deleted claims go with their replica (persistentVolumeClaimRetentionPolicy).
	Deleted Volumes = "Deleted"
	// NoClaims means that the members have no volume claims of their own.
	NoClaims Volumes = "NoClaims"
)

// Facts are the facts about one write of the replicas. The members with the lowest ordinals
// stay, since a StatefulSet starts and stops the highest one.
type Facts struct {
	// Target names the cluster for kubectl and kubectl etcd, such as statefulset/main.
	Target, Namespace string

	// Now are the replicas before the write, and Asked those after it. Those of a cluster that spans
	// several StatefulSets are the sum over all.
	Now, Asked int
	// Voters is how many voters etcd has, 0 for unknown or none.
	Voters int
	// Elsewhere is how many of them the members list and no StatefulSet of the cluster has. They count
	// as down.
	Elsewhere int
	// Others is how many members the lists name and no StatefulSet of the cluster has, also if an annotation has the
	// number of voters. No replica of this cluster is theirs.
	Others int
	// Keeping is how many of them have a replica after the write.
	Keeping int
	// Moved is true if the first ordinal becomes another one, or is not that of the members that
	// exist. First is the one that they have.
	Moved bool
	First int
	// Creates is true for a StatefulSet that is created where members of one with its name exist:
	// their pods, or their volumes. Now are the pods.
	Creates bool
	// Ready is how many members are ready now, or may be, and Staying how many of those that are have
	// a replica after the write.
	Ready, Staying int
	// Unsure is how many of Ready may be ready and are not known to be: a write that takes them may
	// take the quorum, and one that keeps them may keep none.
	Unsure int
	// Unrecorded is true if neither a budget nor an annotation records as many voters: after a
	// write of fewer replicas, nothing would show any more that they exist.
	Unrecorded bool
	// Held is how many ordinals have volume claims. Only a cluster with no replicas needs it.
	Held int
	// Stopping is how many pods have no replica after the write and have not stopped yet.
	Stopping int
	// Volumes is what becomes of the data of the members whose replica is removed.
	Volumes Volumes

	// Declared is true if Voters is what the write itself declares.
	Declared bool
	// Follows is true for the workload of an operator that is set to what its owner asks for.
	// The rule has judged the write of the owner.
	Follows bool
	// Restarting is true if the StatefulSet has the mark of a coordinated restart that the write leaves as
	// it is, and RestartStep if the write changes that mark, as the steps of the restart do. Restoring is
	// true if it has the mark of a restore that the write leaves as it is. Marked is the name of that StatefulSet.
	Restarting, RestartStep, Restoring bool
	Marked                             string
	// Manager is the operator or script that adds members and removes them, empty for none. How is
	// what to do instead. It is set without a Manager for an operator or script that removes no
	// members.
	Manager, How string
	// Adder is the operator that adds the members of more replicas itself when its object asks for them, and
	// removes none, empty for none. How is then how to have fewer members, and there is no Manager. Its object is
	// scaled by kubectl etcd scale. Reconcile is the annotation that has it act on what the object asks for, as
	// KEY=VALUE, empty if it needs none.
	Adder, Reconcile string
	// Operator is the operator that sets the replicas and removes no members, empty for none.
	Operator string
	// Script is true if the Manager is a script. What it does for a pod that stops is not certain.
	Script bool

	// Sets are the StatefulSets of a cluster that spans several, such as "a, b and c", empty for any
	// other cluster. How is then how members are added, or removed if Asked is less than Now.
	Sets string
	// Stopped are those that have no replicas and that the write doesn't start.
	Stopped []string
}

// Evaluate returns whether a write of the replicas may pass. The notes are warnings for the
// client, also if the write is allowed.
func Evaluate(f Facts) policy.Verdict {
	v := judge(f)
	step := f.Sets != "" && f.Asked < f.Voters // no single write starts or stops all StatefulSets
	if even := policy.EvenSize(f.Asked, "members"); v.Allowed && v.Reason != VotersDeclared && f.Asked != f.Now && even != "" && !step {
		v.Notes = append(v.Notes, policy.NewNote(EvenReplicas, "%s: choose %d or %d", even, f.Asked-1, f.Asked+1))
	}
	return v
}

func judge(f Facts) policy.Verdict {
	switch {
	case f.Asked == f.Now && !f.Moved:
		return f.stay()
	case f.Follows:
		return policy.Allow(FollowsOwner, "its owner asks for %s", policy.Count(f.Asked, "replica"))
	case f.Restarting, f.Restoring:
		return f.halfway()
	case f.Asked == 0 && f.Now > 0 && f.Elsewhere > 0:
		return f.shrink()
	case f.Asked == 0 && f.Now > 0:
		return f.stop()
	case f.Declared && f.Asked >= f.Voters && !f.Moved:
		return policy.Allow(VotersDeclared, "the write declares %s", policy.Count(f.Voters, "voter"))
	case f.Now == 0:
		return f.start()
	case f.Asked < f.Now, f.Moved:
		return f.shrink()
	}
	return f.grow()
}

// halfway refuses a write while an operation of this program has stopped members.
func (f Facts) halfway() policy.Verdict {
	if f.Restarting {
		return policy.Refuse(RestartInProgress, "a coordinated restart has marked StatefulSet %s; %s", f.Marked, f.wayOfRestart())
	}
	return policy.Refuse(RestoreInProgress, "a restore has marked StatefulSet %s; %s", f.Marked, f.wayOfRestore())
}

// stay judges a write that leaves the replicas as they are.
func (f Facts) stay() policy.Verdict {
	if f.Volumes == Deleted && f.Stopping > 0 && f.Asked < f.Voters {
		return policy.Refuse(VolumesDeleted, "%s of removed replicas have not stopped yet, and their volume claims would be deleted with them, while etcd counts %s; "+
			"leave persistentVolumeClaimRetentionPolicy.whenScaled at Retain until they have stopped", policy.Count(f.Stopping, "pod"), policy.Count(f.Voters, "voter"))
	}
	return policy.Allow(ReplicasUnchanged, "the replicas stay %d", f.Now)
}

// stop judges the stop of all members.
func (f Facts) stop() policy.Verdict {
	if f.Voters > 0 && f.Volumes == Deleted {
		return policy.Refuse(VolumesDeleted, "with 0 replicas the StatefulSet deletes the volume claims of all %s, and all data is lost; "+
			"to keep them, set persistentVolumeClaimRetentionPolicy.whenScaled to Retain first", policy.Count(f.Voters, "voter"))
	}
	if f.Voters == 0 {
		return policy.Allow(AllStop, "all %s stop", policy.Count(f.Now, "replica"))
	}
	if f.RestartStep && f.Volumes == Retained {
		return policy.Allow(RestartStep, "a coordinated restart stops all %s", policy.Count(f.Voters, "voter"))
	}
	if f.Volumes == NoClaims {
		return warned(policy.NewNote(AllStop, "all members stop; they have no volume claims, so their data may be lost"))
	}
	if f.Sets != "" {
		return warned(policy.NewNote(AllStop, "the last members stop, and their volumes stay; %s", f.wayToStart(0)))
	}
	return warned(policy.NewNote(AllStop, "all members stop, and their volumes stay; to start them, set the replicas to %d again, neither to fewer nor to more", f.own()))
}

// unrecorded is why a write of fewer replicas than voters is refused, as a clause.
const unrecorded = "and neither a disruption budget nor an annotation records the others, so the next write or eviction could take the quorum"

// start judges the start of a cluster that has no replicas. The data of each member has all
// voters in it.
func (f Facts) start() policy.Verdict {
	q := policy.Quorum(f.Voters)
	few := func(replicas int) policy.Note {
		return policy.NewNote(StartsTooFew, "%d of %s would start, quorum is %d; %s", f.Keeping, policy.Count(f.Voters, "voter"), q, f.wayToStart(replicas))
	}
	switch {
	case f.Voters == 0, f.Held == 0 && f.Volumes != NoClaims:
		return policy.Allow(NoData, "no volume has data of a member")
	case f.formsCluster() && f.Volumes != NoClaims:
		return f.refuseCluster()
	case f.Keeping >= f.Voters:
		return policy.Allow(policy.QuorumKept, "all %s start", policy.Count(f.Voters, "voter"))
	case f.Held < q, f.Manager != "", f.Sets != "":
		return warned(few(f.Asked))
	case f.Keeping >= q && f.Unrecorded:
		return policy.Refuse(StartsTooFew, "%d of %s would start, %s; %s", f.Keeping, policy.Count(f.Voters, "voter"), unrecorded, f.wayToStartRecorded())
	case f.Keeping >= q:
		return warned(few(f.Asked))
	}
	return policy.Refuse(StartsTooFew, "%s", few(0).Message)
}

// shrink judges a write that removes replicas, or moves them to other ordinals, and leaves some.
func (f Facts) shrink() policy.Verdict {
	if f.Keeping >= f.Voters {
		return policy.Allow(policy.QuorumKept, "all %s keep their replica", policy.Count(f.Voters, "voter"))
	}
	q := policy.Quorum(f.Voters)
	left := policy.NewNote(VotersLeft, "etcd keeps %s, of which %d would have a replica, and quorum is %d; %s", policy.Count(f.Voters, "voter"), f.Keeping, q, f.wayFrom(f.Asked))
	switch {
	case f.Volumes == Deleted && (f.Script || f.Asked == 0):
		return f.deletes()
	case f.Manager != "":
		// It may have removed members from etcd already.
	case f.Keeping < q:
		return policy.Refuse(VotersLost, "%d of %s would keep a replica, quorum is %d; %s", f.Keeping, policy.Count(f.Voters, "voter"), q, f.way())
	case f.Ready >= q && f.Staying < q:
		return policy.Refuse(VotersLost, "%d of %s would stay ready, quorum is %d; now %d %s ready; %s", f.Staying, policy.Count(f.Voters, "voter"), q, f.Ready, f.are(), f.way())
	case f.Volumes == Deleted:
		return f.deletes()
	case f.Unrecorded && f.Sets == "":
		return policy.Refuse(VotersLeft, "%d of %s would keep a replica, %s; %s", f.Keeping, policy.Count(f.Voters, "voter"), unrecorded, f.way())
	}
	return warned(left)
}

// are returns the verb for Ready.
func (f Facts) are() string {
	if f.Unsure > 0 {
		return "may be"
	}
	return "are"
}

// deletes refuses a write that deletes the data of voters.
func (f Facts) deletes() policy.Verdict {
	way := f.way()
	if f.keepsClaims() == "" || !strings.Contains(way, f.keepsClaims()) {
		way += "; to keep the claims, set persistentVolumeClaimRetentionPolicy.whenScaled to Retain first"
	}
	return policy.Refuse(VolumesDeleted, "%d of %s would keep a replica, and the StatefulSet deletes the volume claims of the others, so their data is lost while etcd still counts them; %s",
		f.Keeping, policy.Count(f.Voters, "voter"), way)
}

// grow judges a write that adds replicas to running ones.
func (f Facts) grow() policy.Verdict {
	if f.Voters == 0 || f.Asked <= f.Voters || f.Adder != "" {
		return policy.Allow(MoreReplicas, "%d of %s were running", f.Now, policy.Count(f.Asked, "replica"))
	}
	if f.formsCluster() && f.Ready-f.Unsure < policy.Quorum(f.Voters) {
		return f.refuseCluster()
	}
	return warned(policy.NewNote(MoreReplicas, "etcd doesn't know new members before they are added to it; %s", f.wayFrom(f.Asked)))
}

// formsCluster reports whether the new members are a quorum of the members that are asked for, and nothing adds them to
// etcd. If they reach no voter when they start, they form a cluster of their own, without data and with the same
// cluster ID, to which clients write.
func (f Facts) formsCluster() bool {
	return f.Asked-f.Voters >= policy.Quorum(f.Asked) && f.Manager == "" && f.How == "" && f.Operator == "" && f.Sets == "" && f.Others == 0
}

func (f Facts) refuseCluster() policy.Verdict {
	return policy.Refuse(FormsCluster, "etcd has %s, and fewer than %d of them are ready, so %s could form an empty cluster of their own, whose data would be lost later; %s",
		policy.Count(f.Voters, "voter"), policy.Quorum(f.Voters), policy.Count(f.Asked-f.Voters, "new member"), f.way())
}

// warned returns a verdict that allows a write with a warning.
func warned(n policy.Note) policy.Verdict {
	return policy.Verdict{Allowed: true, Reason: n.Reason, Message: n.Message, Notes: []policy.Note{n}}
}
