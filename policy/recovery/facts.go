// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The grace periods, etcd-druid's defaults. They run for clusters of other products, too, where no
// program acts after them.
const (
	// UnknownGrace is how long a member that gives no sign of life counts as Unknown. Then it counts
	// as NotReady.
	UnknownGrace = time.Minute
	// NotReadyGrace is how long a member that is NotReady has to come back by itself.
	NotReadyGrace = 5 * time.Minute
	// syncPeriod is how often the Reporter updates the status: etcd-druid's default, too.
	syncPeriod = 15 * time.Second
)

// Facts are what is known of one cluster at one moment. A fact that could not be read has its zero
// value, which is never evidence for an action that removes anything.
type Facts struct {
	At time.Time
	// Reporter is the operator that reports in the cluster's object the conditions, the status of each
	// member, and the spec that it has acted on. It is empty if there is none: then the conditions Ready and
	// AllMembersReady, and what the members' statuses and the spec show, count for nothing.
	Reporter string
	// HealsNothing is true if the Reporter is known to delete no pod and to recover no lost quorum.
	HealsNothing bool
	// Sidecar is true if each member has the sidecar etcd-backup-restore, which prepares its data before
	// it starts, also from a backup, and promotes it.
	Sidecar bool
	// Managed is true if another program than this one changes the members.
	Managed bool
	// Bare is true if no StatefulSet creates the pods.
	Bare bool
	// NotRestorable is why the commands of this program restore no data into the present members, and what does instead,
	// empty if they may.
	NotRestorable string
	// Desired is how many members the cluster should have. Voters is how many etcd has, or, if
	// ListKnown is false, the largest number that anything shows.
	Desired, Voters int
	// ListKnown is true if a member gave the member list with a quorum.
	ListKnown bool
	// Replicas and ReadyPods are those of the workload.
	Replicas, ReadyPods int
	Members             []Member
	// Ready, AllMembersReady and BackupReady are the conditions. The Reporter sets the first.
	Ready, AllMembersReady, BackupReady policy.Condition
	// Store is true if there is a backup store, or a lease that a backup job renews. Backups is
	// whether it has a backup.
	Store   bool
	Backups policy.Status
	// Revision is the highest revision that a member reported, and Backup that of the backups. Both are 0 for unknown.
	Revision, Backup int64
	// Alarms are the kinds of alarms that are raised, such as NOSPACE.
	Alarms []string
	// Misaddressed are the members whose peer URLs in etcd's list are known not to lead to their pods.
	Misaddressed []string
	// Clusters counts the etcd clusters that the members belong to: they report different cluster IDs, or have become
	// several clusters that share one.
	Clusters int
	// Formed is true if anything shows that the cluster has had a quorum. Created is when its
	// owner was created, zero if that is not known.
	Formed  bool
	Created time.Time
	// Operation is the scale, rollout or replacement that is under way. Interrupted is true if it
	// is one of this program that has stopped half-way.
	Operation   string
	Interrupted bool
	// HeldRollout is true if the operation is a rollout that is held until all members are healthy.
	HeldRollout bool
	// Continuing are the commands that continue and undo it if its program stops. It is empty if the operation can't be
	// continued, or is known to have stopped.
	Continuing []string
	// CutsTraffic is true if the operation keeps clients away until its end: before that, they could reach members
	// without data.
	CutsTraffic bool
	// Replaced is true if the StatefulSet was created again since that operation began.
	Replaced bool
	// SetsAside is true if that operation may have set the data of members aside.
	SetsAside bool
	// Unstopped is true if that operation is a restore that has stopped no member, or whose members another client has
	// started before it changed any data, and that can be undone.
	Unstopped bool
	// TrafficCut is true while client traffic is cut.
	TrafficCut bool
	// Unreconciled is true if the Reporter has not acted on the current spec. Requested is true if it
	// has been asked to, Suspended if an annotation keeps it from doing so, and SuspendedByCut if a
	// traffic cut has set that one.
	Unreconciled, Requested, Suspended, SuspendedByCut bool
	// ScaledIn is true if workloads have fewer replicas than the members last had, no program but
	// a user changed that, and more replicas run members again with their volumes.
	ScaledIn bool
	// AwayGone counts the voters that were scaled away and whose volume claims are gone.
	AwayGone int
	// Unread are the kinds of facts that could not be read, for users.
	Unread []string
}

// Member is what is known of one member. It has a pod, is in etcd's list, or has a lease or an
// entry in the status of the cluster's object.
type Member struct {
	// Name is the pod's name, or else the member's name or ID.
	Name string
	// Asked is true if the cluster should have this member.
	Asked bool
	// First is true for the member with the lowest ordinal.
	First bool
	Pod   Pod
	// SidecarWaits is true if another container of the pod doesn't start or ends again and again, while that of the
	// member runs. The member may wait for it.
	SidecarWaits bool
	// Detail is why the pod is not Ready, or the member not well, for users.
	Detail string
	Answer Answer
	Listed Listed
	Lease  Lease
	// Status is the entry in the status of the cluster's object, empty for none. StatusSince is when it last
	// changed.
	Status      Status
	StatusSince time.Time
	// Since is since when the member is not well: the last renewal of its lease, or the time at
	// which its pod ceased to be Ready. Zero if no object shows it.
	Since time.Time
	Data  Data
	// Damage is the sign of lost or damaged data, for users.
	Damage string
	// MayRemove is the verdict of the membership rule on its removal from etcd. Removable is true
	// if member remove accepts it as it is: it also is dead.
	MayRemove, Removable bool
	// Returns is true if more replicas bring the member's pod back with its data.
	Returns bool
	// Restarts is true if a StatefulSet creates the pod again, with the same data, and no command of
	// the pod takes the member out of etcd when it stops.
	Restarts bool
	// Predates is true for a member that ran before the log of those that answer began: its etcd has run since before
	// theirs, and in etcd's list it has never started. So the others began without data.
	Predates bool
	// OlderVolume is true for a member that has never started in etcd's list, and whose volume is older than those of
	// the members that answer: it may have data from before their log.
	OlderVolume bool
	// Ahead is true for a pod that answers as a member of the same etcd cluster, that etcd's list lacks, and that has
	// more raft entries than the leader. So the leader began again without its data, and the list is not the cluster's.
	Ahead bool
	// OutOfContact is true if the leader is known to receive nothing from the member.
	OutOfContact bool
	// CaughtUp is true for a learner that is close to the leader.
	CaughtUp bool
	// Liveness is true if the kubelet restarts its container when a probe fails.
	Liveness bool
}

// Pod is the state of a member's pod.
type Pod string

// The states of a pod. The zero value means that pods could not be read.
const (
	PodUnseen  Pod = ""
	PodMissing Pod = "missing"
	// PodPending is a pod without a node.
	PodPending Pod = "pending"
	// PodWaiting is a pod whose member's container doesn't start, or ends again and again.
	PodWaiting  Pod = "waiting"
	PodStopping Pod = "stopping"
	PodUnready  Pod = "unready"
	PodReady    Pod = "ready"
)

// Answer is what the member itself answers.
type Answer string

// The answers. The zero value means that the member could not be asked.
const (
	NotAsked Answer = ""
	// Unreachable means that no member answers this machine, although the pod of this one is Ready: the machine may be unable
	// to reach them, or may not ask them, or none of them may be healthy.
	Unreachable Answer = "unreachable"
	Silent      Answer = "silent"
	// NoLeader is an answer of a member that follows no leader.
	NoLeader Answer = "no leader"
	Follows  Answer = "follows"
)

// Listed is whether etcd's member list has the member.
type Listed string

// The values of Listed. The zero value means that no member gave the list.
const (
	ListUnread Listed = ""
	Voter      Listed = "voter"
	Learner    Listed = "learner"
	NotListed  Listed = "not listed"
)

// Lease is the state of the lease that a running member renews.
type Lease string

// The states of a lease. The zero value means that there is none, or that leases could not be read.
const (
	NoLease      Lease = ""
	LeaseFresh   Lease = "fresh"
	LeaseExpired Lease = "expired"
	LeaseNever   Lease = "never renewed"
)

// Status is the status of a member that the Reporter reports.
type Status string

// The statuses.
const (
	StatusNone     Status = ""
	StatusReady    Status = "Ready"
	StatusNotReady Status = "NotReady"
	StatusUnknown  Status = "Unknown"
)

// Data is what is known of a member's data, from its volume and its log.
type Data string

// The values of Data. The zero value means that volumes could not be read.
const (
	DataUnread Data = ""
	// DataValid is a bound volume, and nothing that speaks against its content.
	DataValid Data = "valid"
	// DataInPod is data that ends with the pod.
	DataInPod Data = "in the pod"
	// DataDamaged means that the log of the member shows that its data is lost or can't be read.
	DataDamaged Data = "damaged"
	// DataLeaving is data that ends with the pod, since the volume claim is being deleted.
	DataLeaving Data = "being deleted"
	// DataNone means that the volume is not there, not bound or lost, or that it is being deleted
	// and no pod holds it any more.
	DataNone Data = "none"
)
