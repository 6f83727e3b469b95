// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestSightings checks that a slow member counts as available for some minutes. A drained member
// is unavailable until its next pod is Ready.
func TestSightings(t *testing.T) {
	t.Parallel()
	s, now := Sightings{}, time.Now()
	for _, step := range []struct {
		name           string
		uid            types.UID
		ready, leaving bool
		later          time.Duration
		there          int
	}{
		{name: "not started", uid: "a"},
		{name: "Ready", uid: "a", ready: true, there: 1},
		{name: "its probe fails", uid: "a", there: 1},
		{name: "for long", uid: "a", later: 2 * slowFor},
		{name: "Ready again", uid: "a", ready: true, there: 1},
		{name: "drained", uid: "a", leaving: true},
		{name: "created again", uid: "b"},
		{name: "Ready again", uid: "b", ready: true, there: 1},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "main-0", UID: step.uid}}
		if step.ready {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		if step.leaving {
			pod.DeletionTimestamp = &metav1.Time{Time: now}
		}
		s.See(pod, false, now)
		if n := s.Count(now.Add(step.later)); n != step.there {
			t.Errorf("%s: %d members are available, want %d", step.name, n, step.there)
		}
	}
}
