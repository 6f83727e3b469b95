// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SweepReport is what operations of kubectl etcd, etcd-webhook and members that are gone have left
// behind.
//
// +kubebuilder:object:root=true
type SweepReport struct {
	metav1.TypeMeta `json:",inline"`

	// Namespace is the namespace that was searched. It is empty for all.
	Namespace string `json:"namespace,omitempty"`
	// Items are the objects that are left over, or of which that is not known.
	Items []Leftover `json:"items"`
	// Unseen has what could not be read. Leftovers may be missing for this reason.
	Unseen []Unseen `json:"unseen,omitempty"`
}

// Names returns the objects for -o name.
func (r *SweepReport) Names() []string {
	var names []string
	for i := range r.Items {
		names = append(names, r.Items[i].Object)
	}
	return names
}

// Leftover is one object that is left over, or of which that is not known.
type Leftover struct {
	// Kind is what the object is for: Journal, ClientTraffic, Suspension, Lock, Rollout, Budget,
	// MemberLease, VolumeClaim or HelperPod.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	// Object is the object as TYPE/NAME.
	Object string `json:"object"`
	// Cluster is the argument of commands for its cluster. It is the name alone if the cluster does not
	// exist, and empty if it is not known.
	Cluster string `json:"cluster,omitempty"`
	// Action is what may be done: Remove by --remove, RemoveClaim by --remove with --delete-claims,
	// ByHand by another command, or Unknown.
	Action  string `json:"action"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Since is when the object, or its operation, began. For a cut, it is when the cut should have ended.
	Since *metav1.Time `json:"since,omitempty"`
	// Ways are the commands that remove it, or that end what it is part of.
	Ways []string `json:"ways,omitempty"`
}
