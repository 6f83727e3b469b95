// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Rollout configures how members restart when the pod template of a selected cluster changes.
type Rollout struct {
	// guard is Enforce to restart one member at a time, and only while the cluster is well, Warn
	// to only return warnings, or "Off" to leave rollouts to the StatefulSet's controller. In mode
	// Warn, Enforce is the same as Warn.
	// +optional
	// +kubebuilder:default="Off"
	Guard Mode `json:"guard,omitempty"`

	// holdLimit is how long a rollout waits for the cluster to be well. After this time it continues
	// as long as the other members are a quorum, and an Event reports it.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) > duration('0s') && duration(self) <= duration('168h')",message="must be a duration such as 90s or 1h30m, more than 0s and at most 168h",reason="FieldValueInvalid"
	HoldLimit *metav1.Duration `json:"holdLimit,omitempty"`
}

// GuardRollouts returns what becomes of rollouts: the weaker of the policy's mode and the guard.
// The default is Off.
func (s *EtcdTopologyPolicySpec) GuardRollouts() Mode {
	switch {
	case s.Mode == ModeOff || s.Rollout.Guard == ModeOff || s.Rollout.Guard == "":
		return ModeOff
	case s.Mode == ModeWarn || s.Rollout.Guard == ModeWarn:
		return ModeWarn
	}
	return ModeEnforce
}
