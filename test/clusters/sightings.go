// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// slowFor is how long a slow member counts as available if no one deleted its pod.
const slowFor = 5 * time.Minute

// Sighting is the last observed state of a member's pod.
type Sighting struct {
	UID   types.UID
	Ready bool
	// Slow is the time since which the probe fails. It is only set for a pod that was Ready and
	// is not deleted.
	Slow time.Time
}

// Available reports whether the member is available: it is Ready, or its probe has failed for
// only some minutes, as on a slow machine.
func (s Sighting) Available(now time.Time) bool {
	return s.Ready || !s.Slow.IsZero() && now.Sub(s.Slow) < slowFor
}

// String describes the state for messages.
func (s Sighting) String() string {
	switch {
	case s.Ready:
		return "Ready"
	case !s.Slow.IsZero():
		return "slow since " + s.Slow.Format("15:04:05.000")
	}
	return "deleted, or not created yet"
}

// Sightings are the last observed states of a cluster's pods, by name.
type Sightings map[string]Sighting

// See records the state of a pod. deleted means that the pod is gone.
func (s Sightings) See(pod *corev1.Pod, deleted bool, now time.Time) {
	before, after := s[pod.Name], Sighting{UID: pod.UID, Ready: !deleted && hasReady(pod)}
	was := before.UID == pod.UID && (before.Ready || !before.Slow.IsZero())
	if was && !after.Ready && !deleted && pod.DeletionTimestamp == nil {
		if after.Slow = before.Slow; after.Slow.IsZero() {
			after.Slow = now
		}
	}
	s[pod.Name] = after
}

// Count returns how many members are available.
func (s Sightings) Count(now time.Time) int {
	n := 0
	for _, m := range s {
		if m.Available(now) {
			n++
		}
	}
	return n
}

// hasReady reports whether the pod's Ready condition is True. Unlike with podReady, the pod may
// be about to end.
func hasReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
