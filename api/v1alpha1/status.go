// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaxListedClusters limits the lists in a policy's status, so that a policy for thousands of
// clusters stays far below etcd's limit for one object.
const MaxListedClusters = 100

// EtcdTopologyPolicyStatus is the observed state of the clusters that a policy governs.
type EtcdTopologyPolicyStatus struct {
	// observedGeneration is the generation of the spec to which this status belongs.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// matched is the number of clusters that this policy governs.
	// +optional
	Matched int32 `json:"matched"`
	// kept is the number of the policy's clusters with the required spread.
	// +optional
	Kept int32 `json:"kept"`
	// broken is the number of the policy's clusters without the required spread.
	// +optional
	Broken int32 `json:"broken"`
	// unprotected is the number of the policy's clusters without a maintained disruption
	// budget.
	// +optional
	Unprotected int32 `json:"unprotected"`

	// clusters are the clusters that this policy governs, sorted by broken, unprotected,
	// unknown, and name. The list has at most 100 clusters.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=kind
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Clusters []ClusterStatus `json:"clusters,omitempty"`

	// conflicts are the policies that have the highest priority together with this one for a
	// cluster. None of them applies to that cluster. The list has at most 100 policies.
	// +optional
	// +listType=map
	// +listMapKey=policy
	// +kubebuilder:validation:MaxItems=100
	Conflicts []Conflict `json:"conflicts,omitempty"`

	// conditions are Spread (every cluster has the required spread), Protected (every
	// cluster's budget is maintained) and Conflict (True is bad).
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
	// ConditionProtected is True when every cluster's budget is maintained.
	ConditionProtected = "Protected"
	// ConditionConflict is True when a policy of the same priority selects the
	// same cluster.
	ConditionConflict = "Conflict"
)

// ClusterStatus is the observed state of one cluster.
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

	// spread is whether the members run as the policy requires.
	// +optional
	Spread Finding `json:"spread,omitzero"`
	// budget is whether the cluster's disruption budget is maintained.
	// +optional
	Budget Finding `json:"budget,omitzero"`
}

// Verdict is the result for one cluster.
//
// +kubebuilder:validation:Enum=Kept;Broken;Unknown;Off
type Verdict string

// The verdicts. Off means that the policy doesn't change it.
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
	// reason is a stable identifier in CamelCase.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message is a sentence with the objects and numbers.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Conflict is another policy with the same highest priority.
type Conflict struct {
	// policy is the other policy's name.
	// +required
	Policy string `json:"policy"`
	// clusters is the number of clusters to which neither policy applies.
	// +optional
	Clusters int32 `json:"clusters"`
	// example is one of those clusters, as namespace/name.
	// +optional
	Example string `json:"example,omitempty"`
}
