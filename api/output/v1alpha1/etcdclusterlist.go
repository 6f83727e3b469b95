// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdClusterList is the etcd clusters that the user may see.
//
// +kubebuilder:object:root=true
type EtcdClusterList struct {
	metav1.TypeMeta `json:",inline"`

	Items []EtcdCluster `json:"items"`
	// Unseen says what could not be looked at, and so may be missing here.
	Unseen []Unseen `json:"unseen,omitempty"`
}

// Names implements -o name. An object of the API is named as kubectl does it.
func (l *EtcdClusterList) Names() []string {
	names := make([]string, 0, len(l.Items))
	for i := range l.Items {
		names = append(names, l.Items[i].Target)
	}
	return names
}

// ClusterIdentity says which etcd cluster something is about.
type ClusterIdentity struct {
	Namespace string `json:"namespace"`
	// Kind and Name are the owner's: an Etcd, a StatefulSet, or an EtcdCluster
	// whose operator makes no StatefulSet. Pods is no kind: such a cluster has no
	// owner.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Target is what the commands take as an argument.
	Target string `json:"target"`
	// Distribution is the product that the cluster comes from, such as
	// etcd-druid, bitnami or plain.
	Distribution string `json:"distribution"`
	// StatefulSet is the workload's name, empty where the members are pods alone.
	StatefulSet string `json:"statefulSet,omitempty"`
	// Controller is what controls the owner, as Kind/name; empty for nothing.
	Controller string `json:"controller,omitempty"`
}

// EtcdCluster is one etcd cluster as the objects of Kubernetes show it. Its
// members were not asked, except for their version where the list was made so.
type EtcdCluster struct {
	ClusterIdentity `json:",inline"`

	Labels  map[string]string `json:"labels,omitempty"`
	Members MemberCount       `json:"members"`
	Quorum  Quorum            `json:"quorum"`
	// Version is etcd's; empty where the image's tag doesn't tell it. Several, by
	// comma, while the members differ.
	Version string `json:"version,omitempty"`
	// Operation is a scale or rollout that is under way.
	Operation string  `json:"operation,omitempty"`
	Backup    Backup  `json:"backup"`
	Traffic   Traffic `json:"clientTraffic"`
	// CreationTimestamp is the owner's, absent where there is none.
	CreationTimestamp *metav1.Time `json:"creationTimestamp,omitempty"`
}

// MemberCount counts members.
type MemberCount struct {
	// Desired is how many the owner asks for, 0 for a hibernated cluster.
	Desired int `json:"desired"`
	// Ready are those that are well and whose pods are Ready.
	Ready int `json:"ready"`
}

// Quorum is how far a cluster is from losing it.
type Quorum struct {
	// FromEtcd says whether etcd's own member list was read. Without, every member
	// counts as a voter.
	FromEtcd bool `json:"fromEtcd"`
	Voters   int  `json:"voters"`
	Healthy  int  `json:"healthy"`
	// Needed is the quorum: how many voters must be healthy.
	Needed int `json:"needed"`
	// Slack is how many more voters may fail; below 0 the quorum is lost.
	Slack int `json:"slack"`
}

// Backup is what is known of a cluster's backups.
type Backup struct {
	// Status is the condition BackupReady: True, False, Unknown; empty where
	// nobody is known to take any.
	Status string `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Full, Delta and Last are when the last snapshot of each kind was taken, by
	// the clock of whoever took it; Last where only that is known.
	Full  *metav1.Time `json:"full,omitempty"`
	Delta *metav1.Time `json:"delta,omitempty"`
	Last  *metav1.Time `json:"last,omitempty"`
}

// Traffic says whether clients reach the members.
type Traffic struct {
	// State is Open, Cut, None where no Service is the clients' own, or Unknown where
	// Services can't be read.
	State string `json:"state"`
	// Until is when a cut ends.
	Until *metav1.Time `json:"until,omitempty"`
	// Services are those of the clients.
	Services []string `json:"services,omitempty"`
}

// The states of client traffic.
const (
	TrafficOpen    = "Open"
	TrafficCut     = "Cut"
	TrafficNone    = "None"
	TrafficUnknown = "Unknown"
)

// Unseen is something that could not be read.
type Unseen struct {
	// What is a resource such as nodes, or a member's pod.
	What string `json:"what"`
	// Why is the refusal or failure.
	Why string `json:"why"`
}
