// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// TestNativeSidecarMembers runs etcd as a native sidecar of another program. The cluster is treated as any other: the
// members are spread and have a budget, a restart and a scale wait for etcd, and a frozen member keeps the others from eviction.
func TestNativeSidecarMembers(t *testing.T) {
	operating(t, 5)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) {
		s.Disruption.CreateMissing = true
		s.Disruption.Evictions = v1alpha1.ModeEnforce
	})
	ignored := failedOpen(t)
	c := start(t, ns, "beside", clusters.Spec{Flavour: clusters.Plain, Size: 3, Plain: clusters.PlainSpec{Shell: true}, Mutate: asSidecar})
	prints(t, 0, []string{"3 of 3 members ready"}, "status", target(c), "-n", ns)
	if printed, _ := plugin(t, 0, "list", "--all", "-n", ns); strings.Contains(printed, "may run etcd") {
		t.Errorf("list --all doubts that the sidecar runs etcd: %s", printed)
	}
	for _, m := range members(t, c) {
		spread := m.Pod.Spec.Affinity != nil || len(m.Pod.Spec.TopologySpreadConstraints) > 0
		if !spread && failedOpen(t) == ignored {
			t.Errorf("pod %s has no scheduling terms", m.Pod.Name)
		}
	}
	sidecarBudget(t, ns, 2)

	before := livesOf(t, c)
	plugin(t, 0, "restart", target(c), "--member", "beside-1", "-n", ns, "-y")
	restarted(t, c, before, "beside-1")

	plugin(t, 0, "scale", target(c), "--replicas", "5", "-n", ns, "-y")
	votersAre(t, c, 5)
	sidecarBudget(t, ns, 3)

	for _, m := range members(t, c)[:2] {
		freeze(t, m.Pod.UID)
	}
	eventually(t, "the eviction of a member beside two frozen ones to be refused", func(ctx context.Context) (string, bool, error) {
		all, err := c.Members(ctx)
		if err != nil || len(all) != 5 {
			return fmt.Sprintf("%d members", len(all)), false, err
		}
		if all[0].Ready || all[1].Ready {
			return "the frozen members are still Ready", false, nil
		}
		err = evict(ctx, ns, all[4].Pod.Name)
		return fmt.Sprint(err), err != nil && strings.Contains(err.Error(), "quorum"), nil
	})
}

// asSidecar changes a StatefulSet to run its etcd as a native sidecar of a program that waits.
func asSidecar(s *appsv1.StatefulSet) {
	pod := &s.Spec.Template.Spec
	at := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == "etcd" })
	etcd, always := pod.Containers[at], corev1.ContainerRestartPolicyAlways
	etcd.RestartPolicy = &always
	pod.InitContainers = append(pod.InitContainers, etcd)
	pod.Containers[at] = corev1.Container{
		Name: "app", Image: images.Alpine, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"/bin/sleep", "infinity"},
	}
	pod.TerminationGracePeriodSeconds = new(int64(5)) // sleep ignores the signal, and sidecars end last
}

// sidecarBudget waits until the namespace has one budget, with this minAvailable.
func sidecarBudget(t *testing.T, ns string, least int) {
	t.Helper()
	eventually(t, fmt.Sprintf("one budget with minAvailable %d", least), func(ctx context.Context) (string, bool, error) {
		var all policyv1.PodDisruptionBudgetList
		err := kube.List(ctx, &all, client.InNamespace(ns))
		if len(all.Items) != 1 || all.Items[0].Spec.MinAvailable == nil {
			return fmt.Sprintf("%d budgets", len(all.Items)), false, err
		}
		got := all.Items[0].Spec.MinAvailable
		return "minAvailable " + got.String(), got.IntValue() == least, err
	})
}
