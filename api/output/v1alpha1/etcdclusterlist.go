// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdClusterList has the etcd clusters that the user may see.
//
// +kubebuilder:object:root=true
type EtcdClusterList struct {
	metav1.TypeMeta `json:",inline"`

	Items []EtcdCluster `json:"items"`
	// Hinted has the workloads that may run etcd. It is empty without --all. Nothing is done for
	// them.
	Hinted []HintedWorkload `json:"hinted,omitempty"`
	// Unseen has what could not be read. Clusters may be missing for this reason.
	Unseen []Unseen `json:"unseen,omitempty"`
}

// Names returns the clusters as arguments, for -o name.
func (l *EtcdClusterList) Names() []string {
	names := make([]string, 0, len(l.Items))
	for i := range l.Items {
		names = append(names, l.Items[i].Target)
	}
	return names
}

// HintedWorkload is a workload that may run etcd, or one with a declaration that is wrong.
type HintedWorkload struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// Hints are why it may run etcd.
	Hints []string `json:"hints,omitempty"`
	// Problem is why its declaration counts for nothing, or why the container that runs etcd is
	// not known. It is empty if there is none.
	Problem string `json:"problem,omitempty"`
	// Declare are the commands that declare which container runs etcd, one for each container
	// that may. Deny is the command that declares that none does. They are empty for static
	// pods: the annotation must be in their manifest.
	Declare []string `json:"declare,omitempty"`
	Deny    string   `json:"deny,omitempty"`
}

// ClusterIdentity identifies an etcd cluster.
type ClusterIdentity struct {
	Namespace string `json:"namespace"`
	// Kind and Name are those of the owner: an Etcd, a StatefulSet, or an EtcdCluster whose
	// operator creates no StatefulSet. The kind Pods means that the cluster has no owner.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Target is the argument of commands for this cluster.
	Target string `json:"target"`
	// Distribution is the product that created the cluster, such as etcd-druid, bitnami or
	// plain.
	Distribution string `json:"distribution"`
	// StatefulSet is its name. It is empty if the members' pods have no StatefulSet.
	StatefulSet string `json:"statefulSet,omitempty"`
	// Controller is the object that controls the owner, as Kind/name. It is empty if there is
	// none.
	Controller string `json:"controller,omitempty"`
}

// EtcdCluster is one etcd cluster according to Kubernetes objects. Only the version may come
// from the members.
type EtcdCluster struct {
	ClusterIdentity `json:",inline"`

	Labels  map[string]string `json:"labels,omitempty"`
	Members MemberCount       `json:"members"`
	Quorum  Quorum            `json:"quorum"`
	// Version is the version of etcd. It is empty if the image's tag doesn't show it. If the
	// members have different versions, it has all of them, separated by commas.
	Version string `json:"version,omitempty"`
	// Operation is a scale or rollout in progress.
	Operation string  `json:"operation,omitempty"`
	Backup    Backup  `json:"backup"`
	Traffic   Traffic `json:"clientTraffic"`
	// CreationTimestamp is that of the owner. It is absent without an owner.
	CreationTimestamp *metav1.Time `json:"creationTimestamp,omitempty"`
}

// MemberCount counts the members of the cluster's own workloads, as Kubernetes shows them. Alarms and what members
// answer change neither number: see Quorum.
type MemberCount struct {
	// Desired is the number of requested members, learners included. It is 0 for a hibernated cluster.
	Desired int `json:"desired"`
	// Ready is the number of voters whose pods are Ready, and whose last heartbeat, where members have heartbeats,
	// is not old. A learner counts from when it votes.
	Ready int `json:"ready"`
}

// Quorum has the numbers of voters of a cluster.
type Quorum struct {
	// FromEtcd is whether etcd's member list was read. Otherwise, every member counts as a
	// voter.
	FromEtcd bool `json:"fromEtcd"`
	Voters   int  `json:"voters"`
	Healthy  int  `json:"healthy"`
	// Needed is the quorum: the number of voters that must be healthy.
	Needed int `json:"needed"`
	// Slack is the number of voters that may still fail. Below 0, the quorum is lost, unless
	// Unknown voters are healthy.
	Slack int `json:"slack"`
	// Unknown is the number of voters that may run as part of another cluster, or that only the lists of pods name, and
	// that were not asked. They are not counted as healthy.
	Unknown int `json:"unknown,omitempty"`
}

// Backup is the state of a cluster's backups.
type Backup struct {
	// Status is the condition BackupReady: True, False or Unknown. It is empty if no program
	// is known to take backups.
	Status string `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Full and Delta are the times of the last full and delta snapshot, by the clock of the
	// backup program. Last is set instead if the kind is unknown.
	Full  *metav1.Time `json:"full,omitempty"`
	Delta *metav1.Time `json:"delta,omitempty"`
	Last  *metav1.Time `json:"last,omitempty"`
}

// Traffic is whether clients reach the members.
type Traffic struct {
	// State is Open, Cut, None if there is no Service for clients, or Unknown if Services
	// can't be read.
	State string `json:"state"`
	// Until is when a cut ends.
	Until *metav1.Time `json:"until,omitempty"`
	// Services are the Services for clients.
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
	// Why is the reason, such as a missing permission.
	Why string `json:"why"`
}
