// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// inRollout gives the StatefulSet a new revision, which so many of its pods have, from the highest ordinal
// down. The last of these was created a moment ago, and is Ready or not.
func inRollout(s *stage, updated int, lastReady bool) {
	change(s, "etcd", func(o *appsv1.StatefulSet) { o.Status.CurrentRevision, o.Status.UpdateRevision = "etcd-a", "etcd-b" })
	for i, name := range []string{"etcd-2", "etcd-1", "etcd-0"} {
		change(s, name, func(pod *corev1.Pod) {
			pod.Labels[appsv1.StatefulSetRevisionLabel] = map[bool]string{true: "etcd-b", false: "etcd-a"}[i < updated]
			if i == updated-1 {
				ready := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}[lastReady]
				pod.CreationTimestamp = metav1.NewTime(s.clock.Now())
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(s.clock.Now())}}
			}
		})
	}
}

// TestBudgetOfRollout checks that no pod may be evicted between two restarts of a rollout, that the budget
// is as before when no member is left to restart, and that a rollout that is stuck releases unready pods.
func TestBudgetOfRollout(t *testing.T) {
	t.Parallel()
	settled := func(s *stage, want string) {
		t.Helper()
		s.reconcile()
		s.advance(time.Minute)
		s.expect(want)
	}
	t.Run("one after the other", func(t *testing.T) {
		t.Parallel()
		s := plainCreated(t)
		for restarted := 1; restarted <= 2; restarted++ {
			inRollout(s, restarted, false)
			s.expect("etcd-quorum minAvailable=3 RolloutUnderWay")
			s.advance(time.Second)
			inRollout(s, restarted, true)
			s.expect("etcd-quorum minAvailable=3 RolloutUnderWay")
		}
		inRollout(s, 3, false)
		s.expect("etcd-quorum minAvailable=2 MemberDown")
		inRollout(s, 3, true)
		settled(s, "etcd-quorum minAvailable=2 AllReady")
	})
	t.Run("stuck", func(t *testing.T) {
		t.Parallel()
		s := plainCreated(t)
		inRollout(s, 1, false)
		_, result := s.reconcile()
		if result.RequeueAfter == 0 || result.RequeueAfter > 2*time.Minute {
			t.Errorf("it is decided again in %s", result.RequeueAfter)
		}
		s.advance(2 * time.Minute)
		s.expect("etcd-quorum minAvailable=2 MemberDown")
	})
	t.Run("the author's partition", func(t *testing.T) {
		t.Parallel()
		s := plainCreated(t)
		change(s, "etcd", func(o *appsv1.StatefulSet) {
			o.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}}
		})
		inRollout(s, 1, true)
		s.expect("etcd-quorum minAvailable=2 AllReady")
	})
	t.Run("held between two steps", func(t *testing.T) {
		t.Parallel()
		for reason, want := range map[string]string{
			"AllReady": "etcd-quorum minAvailable=3 RolloutUnderWay", "RolloutUpdatedNotReady": "etcd-quorum minAvailable=3 RolloutUnderWay",
			"BackupFailing": "etcd-quorum minAvailable=2 AllReady",
		} {
			s := plainCreated(t)
			change(s, "etcd", func(o *appsv1.StatefulSet) {
				o.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}}
				o.Annotations = map[string]string{
					v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`, v1alpha1.RolloutValueAnnotation: "partition=2",
					v1alpha1.RolloutSinceAnnotation: s.clock.Now().Format(time.RFC3339), v1alpha1.RolloutReasonAnnotation: reason,
				}
			})
			inRollout(s, 1, true)
			s.expect(want)
		}
	})
}
