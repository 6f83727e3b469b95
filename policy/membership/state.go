// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// ClusterState is the state of a cluster of a StatefulSet without an operator, observed just before
// a step: etcd's member list, the pods with their volumes, and the StatefulSet. The next step is
// computed from it each time.
type ClusterState struct {
	// TargetArgs are the arguments by which a command of kubectl etcd names the cluster. Only messages
	// contain them.
	TargetArgs string
	// Members is etcd's list, read with a quorum.
	Members []Peer
	// Ordinals are the ordinals from 0, at least as many as replicas, members and targets.
	// They include ordinals without a pod or claim.
	Ordinals []Replica
	// Replicas is the StatefulSet's spec.replicas.
	Replicas int
	// OnDelete and Partition are its update strategy.
	OnDelete  bool
	Partition int
	// Held is true while etcd-webhook holds a rollout of the StatefulSet. The strategy is the one that it set
	// then, and AuthorPartition is the partition that it restores at the end.
	Held            bool
	AuthorPartition int
	// Bootstrap is what a pod that is created now gets.
	Bootstrap BootstrapFlags
	// InTemplate is true if Bootstrap is in the pod template, so that each change creates a new
	// revision. It is false if a ConfigMap has it.
	InTemplate bool
	// Original is true if the template or ConfigMap is as it was before the operation.
	Original bool
	// Observed is true if the StatefulSet controller has observed the last write, so that
	// Updated is current.
	Observed bool
	// TemplateEdited is true if another client has changed the pod template since the
	// operation began.
	TemplateEdited bool
	// AllUpdated is true if the controller counts every pod as updated.
	AllUpdated bool
}

// BootstrapFlags are the flags that a member with an empty data directory reads: whether the cluster
// exists, and its members.
type BootstrapFlags struct {
	Existing bool
	// URLs are the peer URLs of initial-cluster, sorted.
	URLs []string
}

// Replica is one ordinal of the StatefulSet.
type Replica struct {
	// Pod is the name of its pod, which may not exist. URL is the peer URL that its member has
	// or would have.
	Pod, URL string
	// UID is that of the pod, empty if there is no pod.
	UID string
	// Terminating is true if the pod is being deleted.
	Terminating bool
	// Updated is true if the pod has the StatefulSet's update revision.
	Updated bool
	// Claims are the UIDs of its volume claims, except for those that are being deleted.
	// TerminatingClaims is the number of those.
	Claims            []string
	TerminatingClaims int
}

// Record is the content of the journal: the operation, and the state before it.
type Record struct {
	Operation Operation
	// Target is the number of members after a scale operation.
	Target int
	// Replicas, OnDelete and Partition are those of the StatefulSet before the operation.
	Replicas  int
	OnDelete  bool
	Partition int
	// KeepClaims is true if the volume claims of removed members are not deleted.
	KeepClaims bool
	// Ordinal, Member, UID and Claims are those of the pod that is replaced: its ordinal, the
	// ID of its member (0 for none), its UID and the UIDs of its claims.
	Ordinal int
	Member  uint64
	UID     string
	Claims  []string
	// Undo is true if the operation is being rolled back.
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

// Act is what a step does: one write, or a wait.
type Act string

// The acts.
const (
	// Done means that the operation is complete.
	Done Act = "Done"
	// Stop means that the operation can't continue in this state.
	Stop Act = "Stop"
	// Wait means that something else must happen first.
	Wait Act = "Wait"

	SetPartition    Act = "SetPartition"
	SetOnDelete     Act = "SetOnDelete"
	SetBootstrap    Act = "SetLaunch"
	RestoreTemplate Act = "RestoreTemplate"
	RestoreStrategy Act = "RestoreStrategy"
	// AdoptPod gives a pod the label of the update revision. The pod differs from that revision
	// only in flags that a member with data never reads.
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
	// Ordinal is the ordinal that the step is about, if any.
	Ordinal int
	// Member is the ID of the member that the step is about, if any.
	Member uint64
	// TransferTo is the ID of the member that becomes the leader.
	TransferTo uint64
	// Number is the partition or the number of replicas to set.
	Number int
	// Releases is true for RestoreStrategy if pods may restart by that strategy, by a template that the
	// operation has not written. Admission then judges the write like that of any other client.
	Releases bool
	// Bootstrap is what SetBootstrap writes.
	Bootstrap BootstrapFlags
	// Reason and Message are why Stop or Wait is needed. Message has the numbers.
	Reason  policy.Reason
	Message string
}

// Next returns the next step of the operation in the journal.
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
	return stop(atUnknownOperation, "unknown operation %q", r.Operation)
}
