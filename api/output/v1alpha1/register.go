// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "output.kubectl-etcd.dev", Version: "v1alpha1"}

// AddToScheme makes a scheme know the kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ClientTrafficReport{},
		&DrainPlan{},
		&EtcdAlarmList{},
		&EtcdClusterList{},
		&EtcdClusterStatus{},
		&EtcdDiagnosis{},
		&EtcdMemberList{},
		&CheckReport{},
		&CheckReportList{},
		&Version{},
		&Snapshot{}, &SnapshotList{}, &RestorePlan{},
		&SweepReport{},
		&WebhookStatus{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
