// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdClusterStatus is the status of one etcd cluster, according to its members and Kubernetes
// objects.
//
// +kubebuilder:object:root=true
type EtcdClusterStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Time is when the cluster was observed, by the clock of the plugin's machine.
	Time    metav1.Time     `json:"time"`
	Cluster ClusterIdentity `json:"cluster"`

	// Health is Healthy, Degraded (it has a quorum, but a repair is required), Down (it does
	// not work), Unknown or Hibernated (0 members are requested).
	Health string `json:"health"`
	// Problems are the problems, the worst first.
	Problems []Problem `json:"problems,omitempty"`

	// ClusterID, RaftTerm and Revision come from etcd. They are empty or 0 if no member
	// answered.
	ClusterID string `json:"clusterID,omitempty"`
	// Leader is the leader's pod. Without a pod, it is the leader's name or ID. It is empty if
	// no answering member has a leader.
	Leader   string `json:"leader,omitempty"`
	RaftTerm uint64 `json:"raftTerm,omitempty"`
	Revision int64  `json:"revision,omitempty"`

	Replicas MemberCount    `json:"replicas"`
	Quorum   Quorum         `json:"quorum"`
	Members  []MemberStatus `json:"members"`

	// Operation is a scale or rollout in progress.
	Operation string `json:"operation,omitempty"`
	// UnderWay is an operation of kubectl etcd that is running or unfinished.
	UnderWay   *UnderWay         `json:"underWay,omitempty"`
	Conditions []StatusCondition `json:"conditions,omitempty"`
	Spread     SpreadStatus      `json:"spread"`
	Budget     BudgetStatus      `json:"budget"`
	Backup     Backup            `json:"backup"`
	Traffic    Traffic           `json:"clientTraffic"`
	Events     []WarningEvent    `json:"events,omitempty"`
	Unseen     []Unseen          `json:"unseen,omitempty"`
	// Next are commands to run next.
	Next []string `json:"next,omitempty"`
}

// Names returns the cluster as an argument, for -o name.
func (s *EtcdClusterStatus) Names() []string { return []string{s.Cluster.Target} }

// The values of EtcdClusterStatus.Health.
const (
	Healthy    = "Healthy"
	Degraded   = "Degraded"
	Down       = "Down"
	Unknown    = "Unknown"
	Hibernated = "Hibernated"
)

// UnderWay is an operation of kubectl etcd on a cluster.
type UnderWay struct {
	// Operation is the command, such as defrag.
	Operation string `json:"operation"`
	// Change is the goal of a change of members. It is empty for other operations.
	Change string `json:"change,omitempty"`
	// Snapshot is which snapshot continues a restore. It is empty for other operations, and if the commands name the
	// snapshot.
	Snapshot string `json:"snapshot,omitempty"`
	// Since is when it started, by the clock of the machine that started it.
	Since *metav1.Time `json:"since,omitempty"`
	// Holder is the holder of the cluster's lock: user, machine and process. It is empty if
	// the lock is free.
	Holder string `json:"holder,omitempty"`
	// Renewed is when the holder renewed the lock last.
	Renewed *metav1.Time `json:"renewed,omitempty"`
	// Reason is the reason that the user gave.
	Reason string `json:"reason,omitempty"`
	// Interrupted is true if no process continues the operation.
	Interrupted bool `json:"interrupted,omitempty"`
	// Commands are the commands that continue or undo an interrupted operation.
	Commands []string `json:"commands,omitempty"`
}

// Problem is one problem of a cluster or of etcd-webhook.
type Problem struct {
	// Severity is Error if the problem makes the health worse than Healthy, and Warning if it
	// will.
	Severity string `json:"severity"`
	// Reason is a stable identifier in CamelCase.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// The severities.
const (
	SeverityError   = "Error"
	SeverityWarning = "Warning"
)

// MemberStatus is one member: a pod, an entry in etcd's member list, or both.
type MemberStatus struct {
	// Pod is empty for a member that no pod runs.
	Pod string `json:"pod,omitempty"`
	// ID and Name come from etcd. They are empty if unknown.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// State is OK, or a short text with the problem.
	State string `json:"state"`
	// Detail explains a state that isn't OK.
	Detail string `json:"detail,omitempty"`
	// Answered is whether the member answered.
	Answered bool `json:"answered"`
	// Role is Leader, Voter or Learner. It is empty if unknown.
	Role     string `json:"role,omitempty"`
	PodReady bool   `json:"podReady"`
	Restarts int32  `json:"restarts,omitempty"`
	Node     string `json:"node,omitempty"`
	Zone     string `json:"zone,omitempty"`
	Version  string `json:"version,omitempty"`

	// DBSize, DBSizeInUse and Quota are bytes. They are 0 if unknown.
	DBSize      int64 `json:"dbSize,omitempty"`
	DBSizeInUse int64 `json:"dbSizeInUse,omitempty"`
	Quota       int64 `json:"quota,omitempty"`
	// RaftIndex is the last raft entry that the member has, and RaftApplied the last one that
	// it applied. Lag is the number of entries that it is behind the most advanced member. Lag
	// is absent if the member did not answer.
	RaftIndex   uint64  `json:"raftIndex,omitempty"`
	RaftApplied uint64  `json:"raftApplied,omitempty"`
	Lag         *uint64 `json:"lag,omitempty"`

	Alarms []string `json:"alarms,omitempty"`
	// CertificateExpiry is that of the serving certificate. It is absent without TLS.
	CertificateExpiry *metav1.Time `json:"certificateExpiry,omitempty"`
}

// The roles.
const (
	RoleLeader  = "Leader"
	RoleVoter   = "Voter"
	RoleLearner = "Learner"
)

// StateOK is the state of a member without problems.
const StateOK = "OK"

// StatusCondition is a condition that the cluster's operator maintains. Without an operator, it
// is derived from other facts.
type StatusCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is when the status changed last. It is absent for a derived condition.
	Since *metav1.Time `json:"since,omitempty"`
	// Confirmed is when the operator confirmed it last. It is absent for a derived condition.
	Confirmed *metav1.Time `json:"confirmed,omitempty"`
	// Bad is whether this status is the undesired one.
	Bad bool `json:"bad,omitempty"`
}

// SpreadStatus is whether the members are spread as the policy requires.
type SpreadStatus struct {
	// Policy is the EtcdTopologyPolicy that applies. It is empty if there is none.
	Policy string `json:"policy,omitempty"`
	Mode   string `json:"mode,omitempty"`
	// Kept is True, False or Unknown. Without a policy, the defaults of a policy are used.
	Kept    string `json:"kept"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Wanted is how the policy spreads new members. It is empty without a policy.
	Wanted string `json:"wanted,omitempty"`
}

// BudgetStatus is the disruption budget that protects the members.
type BudgetStatus struct {
	// Name is empty if no budget protects them. Message has the reason.
	Name string `json:"name,omitempty"`
	// Value is the value of the budget, such as minAvailable=2.
	Value string `json:"value,omitempty"`
	// MinAvailable is the value as a number of members that must stay available.
	MinAvailable int `json:"minAvailable"`
	// Allowed is the number of pods that may be evicted now, according to the disruption
	// controller.
	Allowed int32 `json:"allowed"`
	// Kept is whether etcd-webhook sets the value. Reason is the reason for the value.
	Kept    bool   `json:"kept"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// WarningEvent is a warning about the cluster or one of its objects.
type WarningEvent struct {
	Last    metav1.Time `json:"last"`
	Count   int32       `json:"count"`
	Object  string      `json:"object"`
	Reason  string      `json:"reason"`
	Message string      `json:"message"`
}
