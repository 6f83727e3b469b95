// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CheckReport has the results of kubectl etcd check for one cluster.
//
// +kubebuilder:object:root=true
type CheckReport struct {
	metav1.TypeMeta `json:",inline"`

	Cluster CheckedCluster `json:"cluster"`
	// Time is when the cluster was checked, by the clock of the plugin's machine.
	Time metav1.Time `json:"time"`
	// Result is the worst of all checks: OK, Info, Unknown, Warning or Failure.
	Result string `json:"result"`
	// Summary counts the checks by their result.
	Summary CheckSummary `json:"summary"`
	// Checks are the selected checks, in the order of their categories.
	Checks []CheckResult `json:"checks"`
}

// CheckedCluster is the cluster that a report is about.
type CheckedCluster struct {
	Namespace string `json:"namespace"`
	// Kind and Name are those of the owner, such as Etcd or StatefulSet.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Target is the argument of the plugin for this cluster: TYPE/NAME.
	Target       string `json:"target"`
	Distribution string `json:"distribution,omitempty"`
	// Replicas is the number of requested members.
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

// CheckResult is the result of one check.
type CheckResult struct {
	// ID never changes its meaning: Q001.
	ID       string `json:"id"`
	Category string `json:"category"`
	// Title is the statement that is true if the check is OK.
	Title string `json:"title"`
	// Result is the worst of the findings. Unknown means that the check was not possible,
	// NotApplicable that the cluster doesn't have the checked feature.
	Result   string         `json:"result"`
	Findings []CheckFinding `json:"findings,omitempty"`
}

// CheckFinding is one thing that a check found.
type CheckFinding struct {
	Level   string `json:"level"`
	Message string `json:"message,omitempty"`
	// Fix is the command that repairs it, or the required change. It is empty if no change is
	// required.
	Fix string `json:"fix,omitempty"`
}

// Names returns the clusters as arguments, for -o name.
func (r *CheckReport) Names() []string { return []string{r.Cluster.Target} }

// CheckReportList has the reports of several clusters.
//
// +kubebuilder:object:root=true
type CheckReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CheckReport `json:"items"`
}

// Names returns the clusters as arguments, for -o name.
func (l *CheckReportList) Names() []string {
	var names []string
	for i := range l.Items {
		names = append(names, l.Items[i].Names()...)
	}
	return names
}
