// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdTopologyPolicy says how the members of the etcd clusters that it selects
// are spread over zones or nodes, and how their disruption budgets are kept.
// Without any policy nothing is touched.
//
// Of the policies that select a cluster the one with the highest priority
// applies, alone. Where two share the highest priority none applies, and the
// status of both says so. The annotation
// kubectl-etcd.dev/topology-policy: opt-out on the cluster's owner takes one
// cluster out of every policy.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=etp
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Topology",type=string,JSONPath=`.spec.spread.topology`
// +kubebuilder:printcolumn:name="Priority",type=integer,JSONPath=`.spec.priority`
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.status.matched`
// +kubebuilder:printcolumn:name="Broken",type=integer,JSONPath=`.status.broken`
// +kubebuilder:printcolumn:name="Unprotected",type=integer,JSONPath=`.status.unprotected`
// +kubebuilder:printcolumn:name="Conflict",type=string,JSONPath=`.status.conditions[?(@.type=="Conflict")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EtcdTopologyPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the policy asks for.
	// +optional
	// +kubebuilder:default={}
	Spec EtcdTopologyPolicySpec `json:"spec,omitzero"`
	// status is what was found in the cluster.
	// +optional
	Status EtcdTopologyPolicyStatus `json:"status,omitzero"`
}

// EtcdTopologyPolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type EtcdTopologyPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdTopologyPolicy `json:"items"`
}

// Mode says how much a policy does.
//
// +kubebuilder:validation:Enum=Enforce;Warn;Off
type Mode string

// The modes. Off still wins over policies of lower priority, so it exempts
// the clusters that it selects.
const (
	ModeEnforce Mode = "Enforce"
	ModeWarn    Mode = "Warn"
	ModeOff     Mode = "Off"
)

// EtcdTopologyPolicySpec is what a policy asks for.
type EtcdTopologyPolicySpec struct {
	// namespaceSelector selects namespaces by their labels. Absent or empty, it
	// selects all, as selectors of admission webhooks do.
	// +optional
	NamespaceSelector *Selector `json:"namespaceSelector,omitempty"`

	// clusterSelector selects etcd clusters by the labels of their owner: the
	// Etcd, or the StatefulSet where there is none. Absent or empty, it selects all.
	// +optional
	ClusterSelector *Selector `json:"clusterSelector,omitempty"`

	// priority decides between policies that select the same cluster: the
	// highest applies. A tie at the top is an error: none of them applies.
	// +optional
	// +kubebuilder:default=0
	Priority int32 `json:"priority"`

	// mode is Enforce to act, Warn to change nothing and say in warnings and
	// Events what would be done, "Off" (in quotes: without, YAML reads false) to
	// do nothing at all.
	// +optional
	// +kubebuilder:default=Enforce
	Mode Mode `json:"mode,omitempty"`

	// spread says how members are spread. It acts when a member's pod is
	// created, never on running pods.
	// +optional
	// +kubebuilder:default={}
	Spread Spread `json:"spread,omitzero"`

	// disruption says how the clusters' PodDisruptionBudgets are kept.
	// +optional
	// +kubebuilder:default={}
	Disruption Disruption `json:"disruption,omitzero"`
}
