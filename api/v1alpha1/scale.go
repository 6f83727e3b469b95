// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Scale configures the guard of the replicas of the selected clusters.
type Scale struct {
	// guard is Enforce to refuse a write of the replicas that takes a quorum of the voters,
	// Warn to only return warnings, or "Off". In mode Warn, Enforce is the same as Warn. Writes
	// of kubectl etcd scale pass.
	// +optional
	// +kubebuilder:default=Enforce
	Guard Mode `json:"guard,omitempty"`
}

// GuardScale returns what becomes of writes of the replicas that the rule refuses: the weaker of
// the policy's mode and the guard. The default is Enforce.
func (s *EtcdTopologyPolicySpec) GuardScale() Mode {
	switch {
	case s.Mode == ModeOff || s.Scale.Guard == ModeOff:
		return ModeOff
	case s.Mode == ModeWarn || s.Scale.Guard == ModeWarn:
		return ModeWarn
	}
	return ModeEnforce
}
