// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Disruption configures the PodDisruptionBudgets of the selected clusters.
type Disruption struct {
	// enabled keeps the budgets at the value that quorum, AllMembersReady and BackupReady
	// require. If it is false, no budget is changed.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// backupHoldLimit is how long failed backups may prevent every eviction. After this time,
	// only quorum counts, and an Event reports it.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) > duration('0s') && duration(self) <= duration('168h')",message="must be a duration such as 90s or 1h30m, more than 0s and at most 168h",reason="FieldValueInvalid"
	BackupHoldLimit *metav1.Duration `json:"backupHoldLimit,omitempty"`

	// staleLimit is how long stale facts may prevent every eviction. After this time, quorum
	// and the ready pods count.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) > duration('0s') && duration(self) <= duration('24h')",message="must be a duration such as 90s or 1h30m, more than 0s and at most 24h",reason="FieldValueInvalid"
	StaleLimit *metav1.Duration `json:"staleLimit,omitempty"`

	// settle is how long a looser value must be due before it allows the eviction of a ready
	// member. A stricter value applies immediately.
	// +optional
	// +kubebuilder:default="60s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) > duration('0s') && duration(self) <= duration('1h')",message="must be a duration such as 90s or 1h30m, more than 0s and at most 1h",reason="FieldValueInvalid"
	Settle *metav1.Duration `json:"settle,omitempty"`

	// createMissing creates a PodDisruptionBudget for a cluster that has none. An existing
	// budget is always used instead of a second one.
	// +optional
	// +kubebuilder:default=false
	CreateMissing bool `json:"createMissing,omitempty"`

	// askMembers has the controller ask members for their health every ten seconds, by HTTP without
	// TLS, if their readiness probe does not ask etcd and etcd listens for such requests. Without it, a
	// member that hangs counts as ready for as long as its pod is.
	// +optional
	// +kubebuilder:default=false
	AskMembers bool `json:"askMembers,omitempty"`

	// evictions is Enforce to refuse the eviction of a member's pod without which fewer healthy
	// voters than a quorum would be left, Warn to only warn of it, or "Off" to leave evictions to
	// the budget. In a policy of mode Warn, Enforce warns. If enabled is false, it has no effect.
	// +optional
	// +kubebuilder:default=Enforce
	Evictions Mode `json:"evictions,omitempty"`

	// deletes is the same for the deletion of a member's pod. It never refuses deletions by
	// Kubernetes' own controllers, by kubelets or by the scheduler.
	// +optional
	// +kubebuilder:default=Warn
	Deletes Mode `json:"deletes,omitempty"`
}

// GuardEvictions returns what becomes of evictions that the rule refuses. The default is Enforce.
func (s *EtcdTopologyPolicySpec) GuardEvictions() Mode {
	return s.guardMode(s.Disruption.Evictions, ModeEnforce)
}

// GuardDeletes returns what becomes of deletions that the rule refuses. The default is Warn.
func (s *EtcdTopologyPolicySpec) GuardDeletes() Mode {
	return s.guardMode(s.Disruption.Deletes, ModeWarn)
}

// guardMode returns the weaker of the policy's mode and the one of a guard.
func (s *EtcdTopologyPolicySpec) guardMode(mode, otherwise Mode) Mode {
	if mode == "" {
		mode = otherwise
	}
	switch {
	case s.Mode == ModeOff || !s.Disruption.On():
		return ModeOff
	case s.Mode == ModeWarn && mode == ModeEnforce:
		return ModeWarn
	}
	return mode
}

// On reports whether budgets are maintained. The default is true.
func (d *Disruption) On() bool { return d.Enabled == nil || *d.Enabled }
