// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// TestChanged: revisions, sizes and times of backups make no new status.
func TestChanged(t *testing.T) {
	t.Parallel()
	before := &v1alpha1.EtcdClusterStatus{Revision: 1, Members: []v1alpha1.MemberStatus{{Name: "main-0", State: v1alpha1.StateOK, DBSize: 1}}}
	now := before.DeepCopy()
	now.Revision, now.Members[0].DBSize, now.Backup.Full = 2, 2, &metav1.Time{Time: time.Unix(1, 0)}
	if Changed(before, now) {
		t.Error("progress counts as a change")
	}
	if now.Revision != 2 {
		t.Error("the status is written")
	}
	now.Members[0].State = "NotReady"
	if !Changed(before, now) {
		t.Error("another state of a member is no change")
	}
}
