// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdDiagnosis has the results of kubectl etcd diagnose for one cluster.
//
// +kubebuilder:object:root=true
type EtcdDiagnosis struct {
	metav1.TypeMeta `json:",inline"`

	Cluster CheckedCluster `json:"cluster"`
	// Time is when the facts were read, by the clock of the plugin's machine.
	Time metav1.Time `json:"time"`
	// Healthy is true if nothing is to be done.
	Healthy bool `json:"healthy"`
	// Summary is the state in one sentence: the title of the first scenario.
	Summary string `json:"summary"`
	// Next is the action of the first scenario.
	Next DiagnosisAction `json:"next"`
	// Scenarios are all that hold, the most urgent first. There is at least one.
	Scenarios []DiagnosisScenario `json:"scenarios"`
	// Restarts are what each member will do when it starts again.
	Restarts []MemberRestart `json:"restarts,omitempty"`
	// Unread are the kinds of facts that could not be read.
	Unread []string `json:"unread,omitempty"`
}

// DiagnosisScenario is a row of docs/rules/recovery.md that holds.
type DiagnosisScenario struct {
	// ID is S-1 to S-13 for DEP-01's decision table for etcd-druid, and X-1 and so on for states
	// that the table doesn't have.
	ID string `json:"id"`
	// Reason is its name, which kubectl etcd explain explains.
	Reason string `json:"reason"`
	Title  string `json:"title"`
	// Evidence is what was observed, beside what the row asks for.
	Evidence []DiagnosisEvidence `json:"evidence,omitempty"`
	Members  []string            `json:"members,omitempty"`
	// GracePeriod is the grace period that runs, and Until its end.
	GracePeriod string       `json:"gracePeriod,omitempty"`
	Until       *metav1.Time `json:"until,omitempty"`
	// ByItself is what other programs will do.
	ByItself []DiagnosisEvent `json:"byItself,omitempty"`
	Action   DiagnosisAction  `json:"action"`
}

// DiagnosisEvidence is one fact that a row asks for.
type DiagnosisEvidence struct {
	Fact     string `json:"fact"`
	Asked    string `json:"asked,omitempty"`
	Observed string `json:"observed"`
	// Met is false if the row holds although the observed value is another one.
	Met bool `json:"met"`
}

// DiagnosisEvent is what another program will do.
type DiagnosisEvent struct {
	Who  string       `json:"who"`
	What string       `json:"what"`
	At   *metav1.Time `json:"at,omitempty"`
}

// DiagnosisAction is the least action.
type DiagnosisAction struct {
	// Do is its kind, such as Nothing, Wait, InspectPod, RestartPod or Replace.
	Do     string `json:"do"`
	Member string `json:"member,omitempty"`
	Why    string `json:"why"`
	// Until is when a wait is over.
	Until *metav1.Time `json:"until,omitempty"`
	// Command is empty if nothing is to be done.
	Command string `json:"command,omitempty"`
}

// MemberRestart is what a member will do when it starts again.
type MemberRestart struct {
	Member string `json:"member"`
	// ID is I-1 to I-8 for DEP-01's decision table for etcd-backup-restore, I-9 and I-10 for what
	// the table doesn't have.
	ID       string              `json:"id"`
	Reason   string              `json:"reason"`
	Evidence []DiagnosisEvidence `json:"evidence,omitempty"`
	What     string              `json:"what"`
	// Joins is true if it becomes a healthy member without help.
	Joins bool `json:"joins"`
}

// Names returns the cluster as an argument, for -o name.
func (d *EtcdDiagnosis) Names() []string { return []string{d.Cluster.Target} }
