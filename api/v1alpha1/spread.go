// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Spread configures the topology over which members are spread, and whether it is required.
//
// +kubebuilder:validation:XValidation:rule="!has(self.form) || !has(self.topology) || self.form != 'AntiAffinity' || self.topology != 'Hostname'",message="form AntiAffinity is only for zones: with topology Hostname members always get pod anti-affinity on the host name; omit form, or set topology to Zone or Auto",fieldPath=".form",reason="FieldValueInvalid"
type Spread struct {
	// topology is the domain over which members are spread. Auto is Zone if the nodes on which
	// members may run have two or more zones, and Hostname otherwise. If there is no such node yet, all
	// nodes count.
	// +optional
	// +kubebuilder:default=Auto
	Topology Topology `json:"topology,omitempty"`

	// enforcement is Required or Preferred. With Required, a member stays Pending rather than
	// break the spread. With Preferred, the scheduler spreads members if possible. A member
	// whose volume is bound to a node or zone that breaks the spread always gets Preferred.
	// +optional
	// +kubebuilder:default=Required
	Enforcement Enforcement `json:"enforcement,omitempty"`

	// form is the pod's field for zone spread. With AntiAffinity, a cluster can't have more
	// members than there are zones.
	// +optional
	// +kubebuilder:default=TopologySpread
	Form Form `json:"form,omitempty"`

	// zoneKey is the node label that contains a node's zone.
	// +optional
	// +kubebuilder:default="topology.kubernetes.io/zone"
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && self.indexOf('/') <= 253",message="must be a label key such as topology.kubernetes.io/zone",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self != 'kubernetes.io/hostname'",message="a host name is not a zone; set topology to Hostname to keep members on different nodes",reason="FieldValueInvalid"
	ZoneKey string `json:"zoneKey,omitempty"`
}

// Topology is the domain over which members are spread.
//
// +kubebuilder:validation:Enum=Auto;Zone;Hostname
type Topology string

// The topologies.
const (
	TopologyAuto     Topology = "Auto"
	TopologyZone     Topology = "Zone"
	TopologyHostname Topology = "Hostname"
)

// Enforcement is whether a member stays Pending rather than break the spread.
//
// +kubebuilder:validation:Enum=Required;Preferred
type Enforcement string

// The enforcements.
const (
	EnforcementRequired  Enforcement = "Required"
	EnforcementPreferred Enforcement = "Preferred"
)

// Form is the pod's field for zone spread.
//
// +kubebuilder:validation:Enum=TopologySpread;AntiAffinity
type Form string

// The forms.
const (
	FormTopologySpread Form = "TopologySpread"
	FormAntiAffinity   Form = "AntiAffinity"
)
