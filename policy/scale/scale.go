// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package scale is the rule about writes of a cluster's replicas that bypass kubectl etcd
// scale: by kubectl scale, an autoscaler, Helm or any other client. Its table is
// docs/rules/scale.md.
package scale

import (
	"fmt"
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
	// Keeping is how many of them have a replica after the write.
	Keeping int
	// Moved is true if the first ordinal becomes another one, or is not that of the members that
	// exist. First is the one that they have.
	Moved bool
	First int
	// Creates is true for a StatefulSet that is created where members of one with its name exist:
	// their pods, or their volumes. Now are the pods.
	Creates bool
	// Ready is how many members are ready now, and Staying how many of those have a replica
	// after the write.
	Ready, Staying int
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
	// it is, and RestartStep if the write changes that mark, as the steps of the restart do. Marked is
	// the name of that StatefulSet.
	Restarting, RestartStep bool
	Marked                  string
	// Druid is true for an Etcd and its workload. etcd-druid adds members, and removes none.
	Druid bool
	// Manager is the operator or script that adds members and removes them, empty for none. How is
	// what to do instead. It is set without a Manager for an operator or script that removes no
	// members. Both are empty for Druid.
	Manager, How string
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
	if v.Allowed && v.Reason != VotersDeclared && f.Asked != f.Now && f.Asked > 0 && f.Asked%2 == 0 && !step {
		v.Notes = append(v.Notes, policy.NewNote(EvenReplicas, "an even number gains nothing: %d members tolerate the loss of %d, the same as %d; choose %d or %d",
			f.Asked, (f.Asked-1)/2, f.Asked-1, f.Asked-1, f.Asked+1))
	}
	return v
}

func judge(f Facts) policy.Verdict {
	switch {
	case f.Asked == f.Now && !f.Moved:
		return f.stay()
	case f.Follows:
		return policy.Allow(FollowsOwner, "its owner asks for %s", policy.Count(f.Asked, "replica"))
	case f.Restarting:
		return policy.Refuse(RestartInProgress, "a coordinated restart has marked StatefulSet %s; %s", f.Marked, f.wayOfRestart())
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
		return warned(policy.NewNote(AllStop, "the last members stop, and their volumes stay; %s", f.wayToStart()))
	}
	return warned(policy.NewNote(AllStop, "all members stop, and their volumes stay; to start them, set the replicas to %d again, not to fewer", f.Voters))
}

// unrecorded is why a write of fewer replicas than voters is refused, as a clause.
const unrecorded = "and neither a disruption budget nor an annotation records the others, so the next write or eviction could take the quorum"

// start judges the start of a cluster that has no replicas. The data of each member has all
// voters in it.
func (f Facts) start() policy.Verdict {
	q := policy.Quorum(f.Voters)
	few := policy.NewNote(StartsTooFew, "%d of %s would start, quorum is %d; %s", f.Keeping, policy.Count(f.Voters, "voter"), q, f.wayToStart())
	switch {
	case f.Voters == 0, f.Held == 0 && f.Volumes != NoClaims:
		return policy.Allow(NoData, "no volume has data of a member")
	case f.Keeping >= f.Voters:
		return policy.Allow(policy.QuorumKept, "all %s start", policy.Count(f.Voters, "voter"))
	case f.Held < q, f.Manager != "", f.Sets != "":
		return warned(few)
	case f.Keeping >= q && f.Unrecorded:
		return policy.Refuse(StartsTooFew, "%d of %s would start, %s; %s", f.Keeping, policy.Count(f.Voters, "voter"), unrecorded, f.wayToStartRecorded())
	case f.Keeping >= q:
		return warned(few)
	}
	return policy.Refuse(StartsTooFew, "%s", few.Message)
}

// shrink judges a write that removes replicas, or moves them to other ordinals, and leaves some.
func (f Facts) shrink() policy.Verdict {
	if f.Keeping >= f.Voters {
		return policy.Allow(policy.QuorumKept, "all %s keep their replica", policy.Count(f.Voters, "voter"))
	}
	q := policy.Quorum(f.Voters)
	left := policy.NewNote(VotersLeft, "etcd keeps %s, of which %d would have a replica, and quorum is %d; %s", policy.Count(f.Voters, "voter"), f.Keeping, q, f.way())
	switch {
	case f.Volumes == Deleted && (f.Script || f.Asked == 0):
		return f.deletes()
	case f.Manager != "":
		// It may have removed members from etcd already.
	case f.Keeping < q:
		return policy.Refuse(VotersLost, "%d of %s would keep a replica, quorum is %d; %s", f.Keeping, policy.Count(f.Voters, "voter"), q, f.way())
	case f.Ready >= q && f.Staying < q:
		return policy.Refuse(VotersLost, "%d of %s would stay ready, quorum is %d; now %d are ready; %s", f.Staying, policy.Count(f.Voters, "voter"), q, f.Ready, f.way())
	case f.Volumes == Deleted:
		return f.deletes()
	case f.Unrecorded && f.Sets == "":
		return policy.Refuse(VotersLeft, "%d of %s would keep a replica, %s; %s", f.Keeping, policy.Count(f.Voters, "voter"), unrecorded, f.way())
	}
	return warned(left)
}

// deletes refuses a write that deletes the data of voters.
func (f Facts) deletes() policy.Verdict {
	return policy.Refuse(VolumesDeleted, "%d of %s would keep a replica, and the StatefulSet deletes the volume claims of the others, so their data is lost while etcd still counts them; %s; "+
		"to keep the claims, set persistentVolumeClaimRetentionPolicy.whenScaled to Retain first", f.Keeping, policy.Count(f.Voters, "voter"), f.way())
}

// grow judges a write that adds replicas to running ones.
func (f Facts) grow() policy.Verdict {
	if f.Voters == 0 || f.Asked <= f.Voters || f.Druid {
		return policy.Allow(MoreReplicas, "%d of %s were running", f.Now, policy.Count(f.Asked, "replica"))
	}
	return warned(policy.NewNote(MoreReplicas, "etcd doesn't know new members before they are added to it; %s", f.way()))
}

// mostMembers is the largest size that kubectl etcd scale accepts.
const mostMembers = 15

// way returns how the number of members is changed, as a clause.
func (f Facts) way() string {
	switch {
	case f.Moved:
		return fmt.Sprintf("leave spec.ordinals.start at %d, where the pods and volume claims of the members are", f.First)
	case f.Manager != "":
		return f.Manager + " changes the members: " + f.How
	case f.Druid:
		return "etcd-druid removes no members: restore a backup into a new Etcd of that size"
	case f.Elsewhere > 0 && f.Asked < f.Now:
		return f.wayElsewhere()
	case f.Sets != "":
		return f.wayOfSets()
	case f.How != "" && f.Asked < f.Now:
		return f.How + "; if etcd has fewer voters, declare them with the replicas: " + f.declaration()
	case f.How != "":
		return f.How
	}
	command := fmt.Sprintf("kubectl etcd scale %s -n %s --replicas ", f.Target, f.Namespace)
	switch {
	case f.Creates:
		return fmt.Sprintf("create it with %s, then use %sN", policy.Count(f.Voters, "replica"), command)
	case f.Now < f.Voters && f.Volumes != Deleted:
		return fmt.Sprintf("first bring the other voters back: kubectl scale %s -n %s --replicas %d; then use %sN", f.Target, f.Namespace, f.Voters, command)
	case f.Asked%2 == 0, f.Asked > mostMembers:
		return fmt.Sprintf("instead use %sN, with an odd N up to %d", command, mostMembers)
	}
	return fmt.Sprintf("instead run: %s%d", command, f.Asked)
}

// wayOfRestart returns how a coordinated restart is ended or continued, as a clause. The end comes
// first: it also finds out whether there is a restart, and continuing one stops the members.
func (f Facts) wayOfRestart() string {
	command := fmt.Sprintf("kubectl etcd restart %s -n %s", f.Target, f.Namespace)
	return fmt.Sprintf("end it: %s --abort; if that finds no restart to end, remove the mark: kubectl annotate statefulset %s -n %s kubectl-etcd.dev/restart-; or continue it: %s --strategy coordinated",
		command, f.Marked, f.Namespace, command)
}

// wayElsewhere returns how fewer replicas are possible beside members elsewhere.
func (f Facts) wayElsewhere() string {
	cluster := policy.Cluster{Namespace: f.Namespace, Target: f.Target}
	return fmt.Sprintf("%d of them run elsewhere or not at all, and count as down; compare with kubectl etcd member list %s; "+
		"remove those that are dead from etcd: kubectl etcd member remove %s -n %s MEMBER; "+
		"then set N to the number of voters that etcd has, and %s", f.Elsewhere, cluster.TargetArgs(), f.Target, f.Namespace, cluster.DeclareVoters("N"))
}

// declaration returns the command that sets the replicas and declares that etcd has as many voters.
func (f Facts) declaration() string {
	return fmt.Sprintf(`kubectl patch %s -n %s --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"%d at '$(date -u +%%FT%%TZ)'"}},"spec":{"replicas":%d}}'`,
		f.Target, f.Namespace, f.Asked, f.Asked)
}

// wayOfSets returns how the members of a cluster that spans several StatefulSets are changed.
func (f Facts) wayOfSets() string {
	if f.Asked > f.Now || len(f.Stopped) == 0 || f.Now >= f.Voters {
		return f.How
	}
	var start []string
	for _, set := range f.Stopped {
		start = append(start, fmt.Sprintf("kubectl scale statefulset/%s -n %s --replicas N", set, f.Namespace))
	}
	return fmt.Sprintf("first start the other voters again, with N as before: %s; if etcd has only N voters, %s; then, %s",
		strings.Join(start, " and "), policy.Cluster{Namespace: f.Namespace, Target: f.Target}.DeclareVoters("N"), f.How)
}

// wayToStart returns how all voters are started, as a clause. kubectl etcd scale starts the
// members of etcd-druid only: it finds no voter to ask.
func (f Facts) wayToStart() string {
	switch {
	case f.Moved:
		return f.way()
	case f.Creates && f.Sets == "":
		return fmt.Sprintf("create it with %s; if their data is not needed, delete their volume claims first; if etcd has fewer voters, "+
			"declare them in the manifest with the annotation kubectl-etcd.dev/size: \"%d at TIME\", with the time of now as in 2026-01-31T12:00:00Z",
			policy.Count(f.Voters, "replica"), f.Asked)
	case f.Manager != "":
		return f.way()
	case f.Sets != "":
		return "to start all, set the replicas of each StatefulSet (" + f.Sets + ") to what they were"
	}
	command := "kubectl scale"
	if f.Druid {
		command = "kubectl etcd scale"
	}
	return fmt.Sprintf("to start all, run: %s %s -n %s --replicas %d", command, f.Target, f.Namespace, f.Voters)
}

// wayToStartRecorded returns the same, and how as many voters as are asked for are recorded.
func (f Facts) wayToStartRecorded() string {
	if f.Moved || f.Creates {
		return f.wayToStart()
	}
	return f.wayToStart() + "; if etcd has fewer voters, declare them with the replicas: " + f.declaration()
}

// warned returns a verdict that allows a write with a warning.
func warned(n policy.Note) policy.Verdict {
	return policy.Verdict{Allowed: true, Reason: n.Reason, Message: n.Message, Notes: []policy.Note{n}}
}
