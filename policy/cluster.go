// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package policy decides: facts about one etcd cluster in, verdict out.
//
// It holds the rules of DEP-01 ("Multi-node etcd cluster instances via
// etcd-druid") as pure functions. It reads no clock, does no I/O and knows no
// Kubernetes type; internal/observe fills its structs, webhook, controller and
// the plugin act on its verdicts. A verdict is data, never an error.
package policy

import "time"

// Cluster is all that a rule knows of one etcd cluster at one moment.
type Cluster struct {
	Namespace string
	Name      string

	// Size is the number of members that the cluster has or is about to have,
	// whichever is more: while it is scaled, the larger of the owner's replicas,
	// the StatefulSet's replicas and the members seen.
	Size int

	// Members are those that have a pod, a lease or both, in ordinal order.
	Members []Member

	// Lost counts the members that the cluster has had, and that neither its owner asks
	// for nor have a pod: etcd may still have them as voters. They are part of Size.
	Lost int

	// NonMemberPods counts the Ready pods that the cluster's disruption budget
	// selects although they are no members (druid's compaction pod): the
	// disruption controller counts them as healthy.
	NonMemberPods int

	AllMembersReady Condition
	BackupReady     Condition

	// Operation is the scale or rollout that is under way, empty if none is.
	Operation string

	// Stale says that nothing fresh is known of the members: no lease is fresh,
	// and AllMembersReady is no evidence because it is too old or was never
	// given. Observers set it, and only for clusters whose members have leases;
	// an operator that is down while leases are renewed makes nothing stale.
	Stale bool

	// TrafficCut says that the client Service's selector carries a cut, be its time over or not.
	TrafficCut bool
}

// Member is one etcd member and its pod.
type Member struct {
	// Pod is the pod's name, which druid's member name may extend by a prefix.
	Pod string
	// Exists says that the pod is there.
	Exists bool
	// PodReady is the pod's Ready condition, what the disruption controller counts.
	PodReady bool
	// Ready says that the member itself gave a sign of life within three
	// heartbeats: its lease, or its pod's readiness where there are no leases.
	Ready bool
	// Learner is true for a member without a vote.
	Learner bool
	// Leader is true for the member that last said it leads.
	Leader bool
	// Zone and Node are where the pod runs, empty while it is not scheduled.
	Zone string
	Node string
}

// Status is the value of a condition. The zero value, Absent, means that the
// cluster's operator does not maintain the condition at all.
type Status string

// The values of a condition.
const (
	Absent  Status = ""
	True    Status = "True"
	False   Status = "False"
	Unknown Status = "Unknown"
)

// EvidenceLimit is the age beyond which a condition proves nothing, because
// whoever maintains it has stopped doing so: druid updates every 15 seconds.
const EvidenceLimit = 2 * time.Minute

// Condition is a condition of the cluster and how old it is.
type Condition struct {
	Status Status
	// Age is the time since the condition was last confirmed, not since it changed.
	Age time.Duration
	// Reason is its maintainer's word for why.
	Reason string
}

// Value is the condition's status as evidence: Unknown when it is too old to
// prove anything or no status at all, Absent when it is absent at whatever age.
func (c Condition) Value() Status {
	switch c.Status {
	case Absent:
		return Absent
	case True, False:
		if c.Age <= EvidenceLimit {
			return c.Status
		}
	case Unknown:
	}
	return Unknown
}

// Quorum is the number of voters of n that must agree.
func Quorum(n int) int { return n/2 + 1 }

// LagLimit is how many entries a member may be behind the leader and still count
// as up to date. etcd's own check, at least 90 % of the leader's index, proves
// nothing for a learner: the index of an old cluster is so high that an empty
// learner passes it within a moment.
const LagLimit = 1000
