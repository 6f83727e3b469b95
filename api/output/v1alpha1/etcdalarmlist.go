// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdAlarmList has the alarms of one etcd cluster.
//
// +kubebuilder:object:root=true
type EtcdAlarmList struct {
	metav1.TypeMeta `json:",inline"`

	Cluster ClusterIdentity `json:"cluster"`
	// Items is empty if no alarm is raised.
	Items []EtcdAlarm `json:"items"`
}

// EtcdAlarm is one alarm of one member.
type EtcdAlarm struct {
	// Type is NOSPACE or CORRUPT.
	Type string `json:"type"`
	// MemberID is the ID of the member that the alarm is about.
	MemberID string `json:"memberID"`
	// Member is the member's name, and Pod its pod. They are absent if unknown.
	Member string `json:"member,omitempty"`
	Pod    string `json:"pod,omitempty"`
}

// Names returns the pods with an alarm, for -o name.
func (l *EtcdAlarmList) Names() []string {
	var names []string
	for _, a := range l.Items {
		if a.Pod != "" {
			names = append(names, "pod/"+a.Pod)
		}
	}
	return names
}
