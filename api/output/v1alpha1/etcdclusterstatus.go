// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdClusterStatus is one etcd cluster at one moment, as its members and the
// objects of Kubernetes show it.
//
// +kubebuilder:object:root=true
type EtcdClusterStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Time is when it was looked at, by the clock of the plugin's machine.
	Time    metav1.Time     `json:"time"`
	Cluster ClusterIdentity `json:"cluster"`

	// Health is Healthy, Degraded (a quorum is there, but something must be
	// mended), Down (it does not work), Unknown or Hibernated (0 members asked for).
	Health string `json:"health"`
	// Problems are what is wrong, the worst first.
	Problems []Problem `json:"problems,omitempty"`

	// ClusterID, LeaderID, RaftTerm and Revision are etcd's; empty or 0 where no
	// member told.
	ClusterID string `json:"clusterID,omitempty"`
	// Leader is the leader's pod, or its name or ID where it has none; empty where no
	// member that answers follows one.
	Leader   string `json:"leader,omitempty"`
	RaftTerm uint64 `json:"raftTerm,omitempty"`
	Revision int64  `json:"revision,omitempty"`

	Replicas MemberCount    `json:"replicas"`
	Quorum   Quorum         `json:"quorum"`
	Members  []MemberStatus `json:"members"`

	// Operation is a scale or rollout that is under way.
	Operation string `json:"operation,omitempty"`
	// UnderWay is what somebody does to it with kubectl etcd, or has begun and not
	// ended.
	UnderWay   *UnderWay         `json:"underWay,omitempty"`
	Conditions []StatusCondition `json:"conditions,omitempty"`
	Spread     SpreadStatus      `json:"spread"`
	Budget     BudgetStatus      `json:"budget"`
	Backup     Backup            `json:"backup"`
	Traffic    Traffic           `json:"clientTraffic"`
	Events     []WarningEvent    `json:"events,omitempty"`
	Unseen     []Unseen          `json:"unseen,omitempty"`
	// Next are commands to go on with.
	Next []string `json:"next,omitempty"`
}

// Names implements -o name.
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
	// Change says what a change of members is to come to; empty for other operations.
	Change string `json:"change,omitempty"`
	// Since is when it was begun, by the clock of who began it.
	Since *metav1.Time `json:"since,omitempty"`
	// Holder has the cluster's lock for it: user, machine and process. It is empty
	// where nobody has it.
	Holder string `json:"holder,omitempty"`
	// Renewed is when the holder last said that it is alive.
	Renewed *metav1.Time `json:"renewed,omitempty"`
	// Reason is in the words of who began it.
	Reason string `json:"reason,omitempty"`
	// Interrupted says that nobody carries it on.
	Interrupted bool `json:"interrupted,omitempty"`
	// Commands carry on what was interrupted, or take it back.
	Commands []string `json:"commands,omitempty"`
}

// Problem is one thing that is wrong.
type Problem struct {
	// Severity is Error for what makes the health less than Healthy, Warning for
	// what will.
	Severity string `json:"severity"`
	// Reason is stable and in CamelCase.
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
	// ID and Name are etcd's, empty where they are not known.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// State is OK or, in a word or two, why it isn't.
	State string `json:"state"`
	// Detail says more about a state that isn't OK.
	Detail string `json:"detail,omitempty"`
	// Answered says whether the member itself was asked and did.
	Answered bool `json:"answered"`
	// Role is Leader, Voter or Learner; empty where it is not known.
	Role     string `json:"role,omitempty"`
	PodReady bool   `json:"podReady"`
	Restarts int32  `json:"restarts,omitempty"`
	Node     string `json:"node,omitempty"`
	Zone     string `json:"zone,omitempty"`
	Version  string `json:"version,omitempty"`

	// DBSize, DBSizeInUse and Quota are bytes; 0 where they are not known.
	DBSize      int64 `json:"dbSize,omitempty"`
	DBSizeInUse int64 `json:"dbSizeInUse,omitempty"`
	Quota       int64 `json:"quota,omitempty"`
	// RaftIndex is the last entry that the member has, RaftApplied the last that
	// it has acted on. Lag is how far it is behind the furthest member, in
	// entries; absent where it did not answer.
	RaftIndex   uint64  `json:"raftIndex,omitempty"`
	RaftApplied uint64  `json:"raftApplied,omitempty"`
	Lag         *uint64 `json:"lag,omitempty"`

	Alarms []string `json:"alarms,omitempty"`
	// CertificateExpiry is the serving certificate's, absent without TLS.
	CertificateExpiry *metav1.Time `json:"certificateExpiry,omitempty"`
}

// The roles.
const (
	RoleLeader  = "Leader"
	RoleVoter   = "Voter"
	RoleLearner = "Learner"
)

// StateOK is a member's state when nothing is wrong with it.
const StateOK = "OK"

// StatusCondition is a condition that the cluster's operator keeps, or one that
// was derived where there is no operator.
type StatusCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is when the status last changed; absent for a derived one.
	Since *metav1.Time `json:"since,omitempty"`
	// Confirmed is when it was last said again; absent for a derived one.
	Confirmed *metav1.Time `json:"confirmed,omitempty"`
	// Bad says that this status is the one that isn't wanted.
	Bad bool `json:"bad,omitempty"`
}

// SpreadStatus says whether the members are spread as the policy wants.
type SpreadStatus struct {
	// Policy is the EtcdTopologyPolicy that applies, empty for none.
	Policy string `json:"policy,omitempty"`
	Mode   string `json:"mode,omitempty"`
	// Kept is True, False or Unknown. Without a policy it says how things are
	// by the rule that a policy has by default.
	Kept    string `json:"kept"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Wanted is where the policy puts new members; empty without one.
	Wanted string `json:"wanted,omitempty"`
}

// BudgetStatus is the disruption budget that protects the members.
type BudgetStatus struct {
	// Name is empty where no budget protects them; Message says why.
	Name string `json:"name,omitempty"`
	// Value is as the budget has it: minAvailable=2.
	Value string `json:"value,omitempty"`
	// MinAvailable is what the value amounts to.
	MinAvailable int `json:"minAvailable"`
	// Allowed is how many pods may be evicted now, as the disruption controller
	// has it.
	Allowed int32 `json:"allowed"`
	// Kept says that etcd-webhook sets the value, and Reason is why it has this one.
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
