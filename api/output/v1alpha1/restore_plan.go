// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RestorePlan has the steps to restore one snapshot into one cluster. None of them has been done.
//
// +kubebuilder:object:root=true
type RestorePlan struct {
	metav1.TypeMeta `json:",inline"`

	Snapshot Snapshot         `json:"snapshot"`
	Cluster  ClusterReference `json:"cluster"`
	// Warnings are facts to know before the first step.
	Warnings []string      `json:"warnings,omitempty"`
	Steps    []RestoreStep `json:"steps"`
}

// RestoreStep is one step of a plan.
type RestoreStep struct {
	Title string `json:"title"`
	// Why is the purpose of the step, or what to check. It may be empty.
	Why string `json:"why,omitempty"`
	// Commands are lines for a shell. It is empty for a step without commands.
	Commands []string `json:"commands,omitempty"`
}
