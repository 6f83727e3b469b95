// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drains

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sighting is the last observed state of a member's pod.
type sighting struct {
	UID   types.UID
	Ready bool
	// Slow is the time since which the probe fails. It is only set for a pod that was Ready and
	// is not deleted.
	Slow time.Time
}

func (s sighting) String() string {
	switch {
	case s.Ready:
		return "Ready"
	case !s.Slow.IsZero():
		return "slow since " + s.Slow.Format(clockTime)
	}
	return "deleted, or not created yet"
}

const clockTime = "15:04:05.000"

// sightings are the last observed states of a cluster's pods, by name.
type sightings map[string]sighting

func (s sightings) see(pod *corev1.Pod, deleted bool) {
	before, now := s[pod.Name], sighting{UID: pod.UID, Ready: !deleted && isReady(pod)}
	was := before.UID == pod.UID && (before.Ready || !before.Slow.IsZero())
	if was && !now.Ready && !deleted && pod.DeletionTimestamp == nil {
		if now.Slow = before.Slow; now.Slow.IsZero() {
			now.Slow = time.Now()
		}
	}
	s[pod.Name] = now
}

// slowFor is how long a slow member counts as available if no one deleted its pod.
const slowFor = 5 * time.Minute

// count returns how many members are available.
func (s sightings) count(now time.Time) int {
	n := 0
	for _, m := range s {
		if m.Ready || !m.Slow.IsZero() && now.Sub(m.Slow) < slowFor {
			n++
		}
	}
	return n
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// TestSightings checks that a slow member counts as available for some minutes. A drained member
// is unavailable until its next pod is Ready.
func TestSightings(t *testing.T) {
	s, now := sightings{}, time.Now()
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
		s.see(pod, false)
		if n := s.count(time.Now().Add(step.later)); n != step.there {
			t.Errorf("%s: %d members are available, want %d", step.name, n, step.there)
		}
	}
}
