// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package policy decides on one etcd cluster: it takes facts and returns a verdict.
//
// It holds the rules of DEP-01 ("Multi-node etcd cluster instances via
// etcd-druid") as pure functions. It reads no clock, does no I/O and has no Kubernetes types.
// internal/observe fills its structs. The webhook, the controller and the plugin act on its
// verdicts. A verdict is data, never an error.
package policy

import "time"

// Cluster is the facts about one etcd cluster at one time.
type Cluster struct {
	Namespace string
	Name      string
	// Target names its owner for kubectl, such as statefulset/main. Only messages contain it.
	Target string

	// Size is the number of members that the cluster has or will have, whichever is larger.
	// During a scale operation, it is the largest of the owner's replicas, the StatefulSet's
	// replicas and the members seen.
	Size int

	// Hibernated is the largest size that a cluster of size 0 has had: its members start again with their votes.
	Hibernated int

	// Members are the members that have a pod, a lease or both, in ordinal order.
	Members []Member

	// Lost counts the members that the cluster has had, and that neither its owner asks
	// for nor have a pod: etcd may still have them as voters. They are part of Size.
	Lost int

	// Elsewhere counts the members that the cluster's own lists name and that no workload of its
	// namespace has. Nothing is known of their state. They are part of Size.
	Elsewhere int

	// Undeclared is true if no annotation declares the size: its pods have no StatefulSet.
	Undeclared bool
	// SizeUnknown is why it is not known which other members the cluster has, empty if it is known.
	// Observers set it only where one member is known: of a larger part, each budget keeps a majority
	// of its own, and the majorities of all parts are one of the whole.
	SizeUnknown string

	// NonMemberPods is the number of Ready pods that the cluster's disruption budget selects
	// and that are not members, such as druid's compaction pod. The disruption controller
	// counts them as healthy.
	NonMemberPods int

	AllMembersReady Condition
	BackupReady     Condition

	// Operation is the scale operation or rollout in progress, empty if there is none.
	Operation string

	// Restarting is true if a rollout stopped a member a moment ago, and is to stop others: the
	// StatefulSet's controller may do so as soon as all pods are Ready.
	Restarting bool

	// Stale is true if the current state of the members is unknown: no lease is fresh, and
	// AllMembersReady is too old to be evidence or was never set. Observers set it only for
	// clusters whose members have leases. If the operator is down but leases are renewed, the
	// facts are not stale.
	Stale bool

	// TrafficCut is true if the client Service's selector has a cut, expired or not.
	TrafficCut bool
}

// Member is one etcd member and its pod.
type Member struct {
	// Pod is the pod's name. druid's member name may have a prefix before it.
	Pod string
	// Exists is true if the pod exists.
	Exists bool
	// PodReady is the pod's Ready condition, which the disruption controller counts.
	PodReady bool
	// Ready is true if the member renewed its lease within three heartbeats or, if there are
	// no leases, if its pod is Ready.
	Ready bool
	// JustReady is true if Ready is false only because the pod, which has no readiness probe, has
	// been Ready for a short time.
	JustReady bool
	// Learner is true for a member without a vote.
	Learner bool
	// Joined is true if the member may have joined the cluster as a learner that nothing names, and be one still.
	Joined bool
	// ReadyFor is how long a member without a lease has been ready, as far as its pod shows it.
	ReadyFor time.Duration
	// Leader is true for the member that last reported to be the leader.
	Leader bool
	// Zone and Node are where the pod runs, empty while it is not scheduled.
	Zone string
	Node string
	// NodeLost is why the node shows that the member is not to be counted on, such as "node a does not exist". Ready is
	// then false, and PodReady may be true for as long as Kubernetes has not changed the pod. It is empty for a node
	// that is Ready or not known.
	NodeLost string
	// MayRun is true if NodeLost hides that the member is ready or its pod is Ready. Its node may only be cut off from
	// the API server, and the member then votes.
	MayRun bool
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

// EvidenceLimit is the age above which a condition is no evidence, because its operator has
// stopped updating it. druid updates conditions every 15 seconds.
const EvidenceLimit = 2 * time.Minute

// Condition is a condition of the cluster and how old it is.
type Condition struct {
	Status Status
	// Age is the time since the condition was last confirmed, not since it changed.
	Age time.Duration
	// Reason is the name that its operator gives for the status. Other programs set it, so
	// it isn't a [Reason].
	Reason string
}

// Value returns the condition's status as evidence: Unknown if it is too old or not a valid
// status, and Absent if it is absent at any age.
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

// Single reports whether the cluster is known to have at most one member.
func (c Cluster) Single() bool { return max(c.Size, len(c.Members)) <= 1 && c.SizeUnknown == "" }

// Quorum returns how many of n voters must agree.
func Quorum(n int) int { return n/2 + 1 }

// LagLimit is how many entries a member may be behind the leader and still count as up to date.
// etcd's own check, at least 90 % of the leader's index, is not enough for a learner: in a cluster
// that has run for long, an empty learner reaches it within a moment.
const LagLimit = 1000

// RequestGap is how many entries a member may have committed and not applied for it to accept a request, also its own
// (maxGapBetweenApplyAndCommitIndex of etcd 3.4 to 3.6, maxNormalGap of etcd 3.7, in server/etcdserver/v3_server.go). It
// is also how many entries a leader keeps for members that catch up (server.go, DefaultSnapshotCatchUpEntries).
const RequestGap = 5000

// AdvisedQuota is the largest quota of a database that etcd's documentation advises, in bytes.
const AdvisedQuota = 8 << 30
