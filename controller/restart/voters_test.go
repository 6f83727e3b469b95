// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// scaledIn has the StatefulSet of three be one that had so many members before. Their claims show that, and etcd may
// still have all of them as voters.
func (s *stage) scaledIn(from int) {
	s.t.Helper()
	const day = 24 * time.Hour
	for i := range from {
		s.Put(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: "store", Name: fmt.Sprintf("data-etcd-%d", i), UID: types.UID(fmt.Sprintf("claim-%d", i)),
			CreationTimestamp: metav1.NewTime(controllertest.Now.Add(-2 * day)),
		}})
	}
	s.set(func(sts *appsv1.StatefulSet) {
		sts.CreationTimestamp = metav1.NewTime(controllertest.Now.Add(-3 * day))
		sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	})
	controllertest.Find[*policyv1.PodDisruptionBudget](s.t, s.Objects, "etcd").Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"other": "pods"}}
}

// TestVotersWithoutReplica requests the restart of a member whose pod is not Ready. Its etcd may live, so it only
// restarts if the others are a quorum of all voters, also of those that no StatefulSet runs.
func TestVotersWithoutReplica(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		voters, unready int
		want            string
	}{
		{3, 1, "etcd-1 CuresMember RestartRequestBegun"},
		{4, 1, "RestartRequestBegun QuorumNeedsAll"},
		{5, 1, "RestartRequestBegun QuorumNeedsAll"},
		{5, -1, "RestartRequestBegun QuorumNeedsAll"},
	} {
		t.Run(fmt.Sprintf("%d voters, %d is not Ready", row.voters, row.unready), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if row.voters > 3 {
				s.scaledIn(row.voters)
			}
			if row.unready >= 0 {
				s.ready(row.unready, corev1.ConditionFalse)
			}
			s.request("rolling")
			s.expect(row.want)
		})
	}
}
