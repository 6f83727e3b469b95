// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdTopologyPolicy configures how the members of the selected etcd clusters
// are spread over zones or nodes, and how their disruption budgets are
// maintained. Without a policy, this project changes nothing.
//
// If several policies select a cluster, only the one with the highest priority
// applies. If two have the highest priority, none applies, and the status of
// both shows the conflict. The annotation
// kubectl-etcd.dev/topology-policy: opt-out on the cluster's owner excludes a
// cluster from every policy.
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

	// spec is the desired behavior.
	// +optional
	// +kubebuilder:default={}
	Spec EtcdTopologyPolicySpec `json:"spec,omitzero"`
	// status is the observed state of the selected clusters.
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

// Mode is what a policy does.
//
// +kubebuilder:validation:Enum=Enforce;Warn;Off
type Mode string

// The modes. A policy in mode Off still has priority over policies of lower priority, so it
// exempts the clusters that it selects.
const (
	ModeEnforce Mode = "Enforce"
	ModeWarn    Mode = "Warn"
	ModeOff     Mode = "Off"
)

// EtcdTopologyPolicySpec is the desired behavior of a policy.
type EtcdTopologyPolicySpec struct {
	// namespaceSelector selects namespaces by their labels. If it is absent or empty, it
	// selects all namespaces.
	// +optional
	NamespaceSelector *Selector `json:"namespaceSelector,omitempty"`

	// clusterSelector selects etcd clusters by the labels of their owner: the Etcd, or the
	// StatefulSet if there is no Etcd. If it is absent or empty, it selects all clusters.
	// +optional
	ClusterSelector *Selector `json:"clusterSelector,omitempty"`

	// priority decides between policies that select the same cluster. The highest applies. If
	// two policies have the highest priority, none applies.
	// +optional
	// +kubebuilder:default=0
	Priority int32 `json:"priority"`

	// mode is Enforce to change objects, Warn to only report changes in warnings and Events,
	// or "Off" to do nothing. Quote "Off", because YAML reads it as false otherwise.
	// +optional
	// +kubebuilder:default=Enforce
	Mode Mode `json:"mode,omitempty"`

	// spread configures how members are spread. It applies when a member's pod is created,
	// never to running pods.
	// +optional
	// +kubebuilder:default={}
	Spread Spread `json:"spread,omitzero"`

	// disruption configures the clusters' PodDisruptionBudgets.
	// +optional
	// +kubebuilder:default={}
	Disruption Disruption `json:"disruption,omitzero"`

	// scale configures which writes of the clusters' replicas are refused.
	// +optional
	// +kubebuilder:default={}
	Scale Scale `json:"scale,omitzero"`

	// rollout configures how members restart when the clusters' pod template changes.
	// +optional
	// +kubebuilder:default={}
	Rollout Rollout `json:"rollout,omitzero"`
}
