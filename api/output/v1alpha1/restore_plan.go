// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RestorePlan is how to restore one snapshot into one cluster. Nothing of it has
// been done.
//
// +kubebuilder:object:root=true
type RestorePlan struct {
	metav1.TypeMeta `json:",inline"`

	Snapshot Snapshot         `json:"snapshot"`
	Cluster  ClusterReference `json:"cluster"`
	// Warnings are what to know before the first step.
	Warnings []string      `json:"warnings,omitempty"`
	Steps    []RestoreStep `json:"steps"`
}

// RestoreStep is one step, in the order in which they are done.
type RestoreStep struct {
	Title string `json:"title"`
	// Why says what it is for, or what to look at; may be empty.
	Why string `json:"why,omitempty"`
	// Commands are lines for a shell; none where there is nothing to type.
	Commands []string `json:"commands,omitempty"`
}
