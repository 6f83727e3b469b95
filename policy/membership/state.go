// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// ClusterState is a cluster of a StatefulSet that no operator keeps, as it was found just
// before a step: etcd's member list, the pods with their volumes, and what the
// StatefulSet says. The next step is always computed from it anew.
type ClusterState struct {
	// Members is etcd's list, as a quorum told it.
	Members []Peer
	// Ordinals are the pods by ordinal from 0, at least as many as there are
	// replicas, members and targets; those without pod or claim included.
	Ordinals []Replica
	// Replicas is what the StatefulSet asks for.
	Replicas int
	// OnDelete and Partition are its update strategy.
	OnDelete  bool
	Partition int
	// Bootstrap is what a pod that is made now is told of the cluster.
	Bootstrap BootstrapFlags
	// InTemplate says that Launch is part of the pod template, so that each
	// change makes a new revision. It is false where a ConfigMap has it.
	InTemplate bool
	// Original says that what the pods are made from is as it was before us.
	Original bool
	// Observed says that the StatefulSet's controller has seen all that was
	// written, so that Current is up to date.
	Observed bool
	// TemplateEdited says that somebody else has changed the pod template since we began.
	TemplateEdited bool
	// AllUpdated says that the controller, too, counts every pod as Current.
	AllUpdated bool
}

// BootstrapFlags is what a member with an empty data directory reads: whether the
// cluster is there already, and of whom it consists.
type BootstrapFlags struct {
	Existing bool
	// URLs are the peer URLs of initial-cluster, sorted.
	URLs []string
}

// Replica is one ordinal of the StatefulSet.
type Replica struct {
	// Pod is its name, there or not. URL is the peer URL that its member has or
	// would have.
	Pod, URL string
	// UID is the pod's, empty where there is none.
	UID string
	// Terminating says that the pod is being deleted.
	Terminating bool
	// Updated says that it is of the StatefulSet's update revision.
	Updated bool
	// Claims are the UIDs of its volume claims, but for those being deleted,
	// of which there are Dying.
	Claims            []string
	TerminatingClaims int
}

// Record is what the journal remembers: what was begun, and what was found then.
type Record struct {
	Operation Operation
	// Target is the number of members that a scale is to end with.
	Target int
	// Replicas, OnDelete and Partition are the StatefulSet's, as found.
	Replicas  int
	OnDelete  bool
	Partition int
	// KeepClaims leaves the volume claims of removed members.
	KeepClaims bool
	// Ordinal, Member, UID and Claims are of the pod that is replaced: its ordinal,
	// the ID of its member (0 for none), its own UID and those of its claims.
	Ordinal int
	Member  uint64
	UID     string
	Claims  []string
	// Undo says that what was begun is being undone.
	Undo bool
}

// Operation is a change of membership that takes several steps.
type Operation string

// The operations.
const (
	ScaleOut Operation = "ScaleOut"
	ScaleIn  Operation = "ScaleIn"
	Replace  Operation = "Replace"
)

// Act is what a step does: one write, or one thing to wait for.
type Act string

// The acts.
const (
	// Done: nothing is left to do.
	Done Act = "Done"
	// Stop: something is there that this operation can't deal with.
	Stop Act = "Stop"
	// Wait: something else has to happen first.
	Wait Act = "Wait"

	SetPartition    Act = "SetPartition"
	SetOnDelete     Act = "SetOnDelete"
	SetBootstrap    Act = "SetLaunch"
	RestoreTemplate Act = "RestoreTemplate"
	RestoreStrategy Act = "RestoreStrategy"
	// AdoptPod marks a pod as one of the update revision, because it differs
	// from it in nothing but what a member with data never reads.
	AdoptPod     Act = "AdoptPod"
	AddLearner   Act = "AddLearner"
	Promote      Act = "Promote"
	MoveLeader   Act = "MoveLeader"
	RemoveMember Act = "RemoveMember"
	SetReplicas  Act = "SetReplicas"
	DeleteClaims Act = "DeleteClaims"
	DeletePod    Act = "DeletePod"
)

// Step is the next thing to do, and why.
type Step struct {
	Act Act
	// Ordinal is the ordinal that it is about, where it is about one.
	Ordinal int
	// Member is the member's ID, where it is about one.
	Member uint64
	// TransferTo is the ID of the member that leadership goes to.
	TransferTo uint64
	// Number is the partition or the replicas to set.
	Number int
	// Bootstrap is what SetBootstrap writes.
	Bootstrap BootstrapFlags
	// Reason and Message say what Stop and Wait are about, the latter with numbers.
	Reason  policy.Reason
	Message string
}

// Next is the next step of what the journal says was begun.
func Next(s ClusterState, r Record) Step {
	switch {
	case r.Operation == ScaleOut && r.Undo:
		return undoOut(s, r)
	case r.Operation == ScaleOut:
		return scaleOut(s, r)
	case r.Operation == ScaleIn && r.Undo:
		return undoIn(s, r)
	case r.Operation == ScaleIn:
		return scaleIn(s, r)
	case r.Operation == Replace && r.Undo:
		return undoReplace(s, r)
	case r.Operation == Replace:
		return replace(s, r)
	}
	return stop(UnknownOperation, "unknown operation %q", r.Operation)
}
