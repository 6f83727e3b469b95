// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestOwnAntiAffinityWins checks that etcd-webhook adds nothing for a topology key if the pod
// has its own term for this key.
func TestOwnAntiAffinityWins(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, nil)
	c := startReviewed(t, ns, "own", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true, Apart: corev1.LabelTopologyZone}, nil)
	for _, m := range members(t, c) {
		if got := constraintsOn(&m.Pod, corev1.LabelTopologyZone); got != 0 {
			t.Errorf("pod %s has its own term for the zone, but also %d spread constraints", m.Pod.Name, got)
		}
		if got := antiAffinityOn(&m.Pod, corev1.LabelTopologyZone); got != 1 {
			t.Errorf("pod %s has %d anti-affinity terms for the zone, want only its own", m.Pod.Name, got)
		}
		if got := antiAffinityOn(&m.Pod, corev1.LabelHostname); got != 1 {
			t.Errorf("pod %s has %d anti-affinity terms for the host, want the policy's one", m.Pod.Name, got)
		}
	}
}

// TestChartsPreferenceStays checks that the policy's required term for hosts stands beside a
// chart's preferred one, which stays unchanged.
func TestChartsPreferenceStays(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, nil)
	c := startReviewed(t, ns, "etcd", clusters.Spec{Flavour: clusters.Bitnami, Size: 3}, nil)
	for _, m := range members(t, c) {
		if got := antiAffinityOn(&m.Pod, corev1.LabelHostname); got != 1 {
			t.Errorf("pod %s has %d required terms for the host, want the policy's one", m.Pod.Name, got)
		}
		if own := m.Pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution; len(own) != 1 {
			t.Errorf("pod %s has %d preferred terms, want the chart's one", m.Pod.Name, len(own))
		}
		if got := constraintsOn(&m.Pod, corev1.LabelTopologyZone); got != 1 {
			t.Errorf("pod %s has %d spread constraints for the zone, want the policy's one", m.Pod.Name, got)
		}
	}
	if zones := clusters.Zones(members(t, c)); len(zones) != 3 {
		t.Errorf("members are in %d zones, want 3: %v", len(zones), zones)
	}
}

func constraintsOn(pod *corev1.Pod, key string) int {
	n := 0
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.TopologyKey == key {
			n++
		}
	}
	return n
}

// antiAffinityOn counts the required anti-affinity terms for a topology key.
func antiAffinityOn(pod *corev1.Pod, key string) int {
	n := 0
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if term.TopologyKey == key {
				n++
			}
		}
	}
	return n
}
