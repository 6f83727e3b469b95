// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CheckReport is what kubectl etcd check found of one cluster.
//
// +kubebuilder:object:root=true
type CheckReport struct {
	metav1.TypeMeta `json:",inline"`

	Cluster CheckedCluster `json:"cluster"`
	// Time is when it was looked at, by the clock of the machine that did.
	Time metav1.Time `json:"time"`
	// Result is the worst of all checks: OK, Info, Unknown, Warning or Failure.
	Result string `json:"result"`
	// Summary counts the checks by their result.
	Summary CheckSummary `json:"summary"`
	// Checks are all that were selected, in the order of their categories.
	Checks []CheckResult `json:"checks"`
}

// CheckedCluster is the cluster that a report is about.
type CheckedCluster struct {
	Namespace string `json:"namespace"`
	// Kind and Name are the owner's: Etcd, StatefulSet.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Target is what the plugin takes as an argument: TYPE/NAME.
	Target       string `json:"target"`
	Distribution string `json:"distribution,omitempty"`
	// Replicas are the members that it should have.
	Replicas int32 `json:"replicas"`
}

// CheckSummary counts checks by their result.
type CheckSummary struct {
	OK            int `json:"ok"`
	Info          int `json:"info"`
	Unknown       int `json:"unknown"`
	Warning       int `json:"warning"`
	Failure       int `json:"failure"`
	NotApplicable int `json:"notApplicable"`
}

// CheckResult is what one check came to.
type CheckResult struct {
	// ID never changes its meaning: Q001.
	ID       string `json:"id"`
	Category string `json:"category"`
	// Title says what holds where all is well.
	Title string `json:"title"`
	// Result is the worst of the findings. Unknown is what could not be looked
	// at; NotApplicable is what this cluster doesn't have.
	Result   string         `json:"result"`
	Findings []CheckFinding `json:"findings,omitempty"`
}

// CheckFinding is one thing that a check found.
type CheckFinding struct {
	Level   string `json:"level"`
	Message string `json:"message,omitempty"`
	// Fix is the command that mends it, or what to change. Empty where nothing is to be done.
	Fix string `json:"fix,omitempty"`
}

// Names are the clusters as arguments, for -o name.
func (r *CheckReport) Names() []string { return []string{r.Cluster.Target} }

// CheckReportList is the reports of several clusters.
//
// +kubebuilder:object:root=true
type CheckReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CheckReport `json:"items"`
}

// Names are the clusters as arguments, for -o name.
func (l *CheckReportList) Names() []string {
	var names []string
	for i := range l.Items {
		names = append(names, l.Items[i].Names()...)
	}
	return names
}
