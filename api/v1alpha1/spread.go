// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Spread says over what members are spread and how firmly.
//
// +kubebuilder:validation:XValidation:rule="!has(self.form) || !has(self.topology) || self.form != 'AntiAffinity' || self.topology != 'Hostname'",message="form AntiAffinity is about zones: with topology Hostname members always get pod anti-affinity on the host name; leave form out, or set topology to Zone or Auto",fieldPath=".form",reason="FieldValueInvalid"
type Spread struct {
	// topology is what members are kept apart by. Auto is Zone where the nodes
	// that members may run on show two or more zones, else Hostname.
	// +optional
	// +kubebuilder:default=Auto
	Topology Topology `json:"topology,omitempty"`

	// enforcement is Required for a member to stay Pending rather than break
	// the spread, Preferred for the scheduler to do what it can. A member whose
	// volume is bound where the spread can't be kept gets Preferred in any case.
	// +optional
	// +kubebuilder:default=Required
	Enforcement Enforcement `json:"enforcement,omitempty"`

	// form is the field of the pod by which zone spread is expressed.
	// AntiAffinity lets no cluster have more members than there are zones.
	// +optional
	// +kubebuilder:default=TopologySpread
	Form Form `json:"form,omitempty"`

	// zoneKey is the node label that names a node's zone.
	// +optional
	// +kubebuilder:default="topology.kubernetes.io/zone"
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && self.indexOf('/') <= 253",message="must be a label key such as topology.kubernetes.io/zone",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self != 'kubernetes.io/hostname'",message="a host name is no zone; set topology to Hostname to keep members on different nodes",reason="FieldValueInvalid"
	ZoneKey string `json:"zoneKey,omitempty"`
}

// Topology is what members are kept apart by.
//
// +kubebuilder:validation:Enum=Auto;Zone;Hostname
type Topology string

// The topologies.
const (
	TopologyAuto     Topology = "Auto"
	TopologyZone     Topology = "Zone"
	TopologyHostname Topology = "Hostname"
)

// Enforcement says whether a member stays Pending rather than break the spread.
//
// +kubebuilder:validation:Enum=Required;Preferred
type Enforcement string

// The enforcements.
const (
	EnforcementRequired  Enforcement = "Required"
	EnforcementPreferred Enforcement = "Preferred"
)

// Form is the field of the pod by which zone spread is expressed.
//
// +kubebuilder:validation:Enum=TopologySpread;AntiAffinity
type Form string

// The forms.
const (
	FormTopologySpread Form = "TopologySpread"
	FormAntiAffinity   Form = "AntiAffinity"
)
