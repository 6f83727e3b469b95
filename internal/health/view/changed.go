// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// Changed reports whether two statuses of a cluster differ in more than what changes in normal operation.
func Changed(before, now *v1alpha1.EtcdClusterStatus) bool {
	return !equality.Semantic.DeepEqual(withoutProgress(before), withoutProgress(now))
}

// withoutProgress returns the status without fields that change in normal operation.
func withoutProgress(st *v1alpha1.EtcdClusterStatus) *v1alpha1.EtcdClusterStatus {
	s := st.DeepCopy()
	s.Time.Reset()
	s.Revision = 0
	s.Backup.Full, s.Backup.Delta, s.Backup.Last = nil, nil, nil
	if s.UnderWay != nil {
		s.UnderWay.Renewed = nil
	}
	for i := range s.Conditions {
		s.Conditions[i].Confirmed = nil
	}
	for i := range s.Members {
		m := &s.Members[i]
		m.RaftIndex, m.RaftApplied, m.DBSize, m.DBSizeInUse, m.Lag = 0, 0, 0, 0, nil
	}
	for i := range s.Problems {
		// Messages contain ages and sizes.
		s.Problems[i].Message = ""
	}
	return s
}
