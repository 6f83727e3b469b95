// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaxListedClusters bounds the lists in a policy's status, so that a policy
// over thousands of clusters stays far below etcd's limit for one object.
const MaxListedClusters = 100

// EtcdTopologyPolicyStatus is what was found of the clusters that a policy governs.
type EtcdTopologyPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// matched is the number of clusters that this policy governs.
	// +optional
	Matched int32 `json:"matched"`
	// kept is how many of the policy's clusters keep the spread that it asks for.
	// +optional
	Kept int32 `json:"kept"`
	// broken is how many of the policy's clusters don't keep the spread that it
	// asks for.
	// +optional
	Broken int32 `json:"broken"`
	// unprotected is how many of the policy's clusters have no disruption budget
	// that is kept.
	// +optional
	Unprotected int32 `json:"unprotected"`

	// clusters are those that this policy governs, the broken ones first, then
	// the unprotected, the unknown and the rest by name; at most 100 of them.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=kind
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Clusters []ClusterStatus `json:"clusters,omitempty"`

	// conflicts are the policies that share the highest priority with this one
	// for some cluster; none of them applies there. At most 100.
	// +optional
	// +listType=map
	// +listMapKey=policy
	// +kubebuilder:validation:MaxItems=100
	Conflicts []Conflict `json:"conflicts,omitempty"`

	// conditions are Spread (every cluster keeps its spread), Protected (every
	// cluster's budget is kept) and Conflict (True is bad).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The types of a policy's conditions.
const (
	// ConditionSpread is True when no cluster's spread is broken.
	ConditionSpread = "Spread"
	// ConditionProtected is True when every cluster's budget is kept.
	ConditionProtected = "Protected"
	// ConditionConflict is True when a policy of the same priority selects the
	// same cluster.
	ConditionConflict = "Conflict"
)

// ClusterStatus is what was found of one cluster.
type ClusterStatus struct {
	// namespace is the namespace of the cluster's owner.
	// +required
	Namespace string `json:"namespace"`
	// kind is the kind of the cluster's owner, such as Etcd or StatefulSet.
	// +required
	Kind string `json:"kind"`
	// name is the name of the cluster's owner.
	// +required
	Name string `json:"name"`

	// spread says whether the members run as the policy asks.
	// +optional
	Spread Finding `json:"spread,omitzero"`
	// budget says whether the cluster's disruption budget is kept.
	// +optional
	Budget Finding `json:"budget,omitzero"`
}

// Verdict is the outcome of looking at one cluster.
//
// +kubebuilder:validation:Enum=Kept;Broken;Unknown;Off
type Verdict string

// The verdicts. Off is for what the policy leaves alone.
const (
	Kept    Verdict = "Kept"
	Broken  Verdict = "Broken"
	Unknown Verdict = "Unknown"
	Off     Verdict = "Off"
)

// Finding is a verdict with its reason.
type Finding struct {
	// verdict is Kept, Broken, Unknown or Off.
	// +required
	Verdict Verdict `json:"verdict"`
	// reason is a word in CamelCase, stable.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message has the objects and numbers.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Conflict is a policy that shares the highest priority with another.
type Conflict struct {
	// policy is the other policy's name.
	// +required
	Policy string `json:"policy"`
	// clusters is the number of clusters that neither applies to for it.
	// +optional
	Clusters int32 `json:"clusters"`
	// example is one of those clusters, as namespace/name.
	// +optional
	Example string `json:"example,omitempty"`
}
