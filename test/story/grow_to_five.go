// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// growToFive scales a cluster with our terms, and a cluster with the literal terms of DEP-01.
func growToFive(ctx context.Context, w *World) error {
	for _, c := range []*clusters.Cluster{w.grow, w.literal} {
		w.Do("kubectl scale etcd %s --replicas 5 -n %s, and have druid reconcile it", c.Name, c.Namespace)
		if err := c.Scale(ctx, 5); err != nil {
			return err
		}
		// druid reports Succeeded when it has written the StatefulSet. The members may not run
		// yet.
		if err := c.Reconcile(ctx); err != nil {
			return err
		}
	}
	if err := awaitPlaced(ctx, 5, w.grow); err != nil {
		return err
	}
	if err := w.disturb(ctx, "grow"); err != nil {
		return err
	}
	if err := w.twoPending(ctx, w.literal); err != nil {
		return err
	}
	if err := w.dismiss(ctx, w.literal); err != nil {
		return err
	}
	return w.twoTwoOne(ctx, w.grow)
}

func (w *World) twoTwoOne(ctx context.Context, c *clusters.Cluster) error {
	err := clusters.Await(ctx, limit, fmt.Sprintf("five ready members of %s", c), func(ctx context.Context) (string, bool, error) {
		members, err := c.Members(ctx)
		ready := 0
		for _, m := range members {
			if m.Ready {
				ready++
			}
		}
		return fmt.Sprintf("%d ready", ready), ready == 5, err
	})
	if err != nil {
		return err
	}
	members, err := w.showMembers(ctx, c)
	if err != nil {
		return err
	}
	zones := clusters.Zones(members)
	counts := slices.Sorted(maps.Values(zones))
	if !slices.Equal(counts, []int{1, 2, 2}) {
		return fmt.Errorf("five members of %s over three zones are not 2-2-1 but %v", c, zones)
	}
	w.Good("%s: five members 2-2-1 over three zones, all Running", c)
	return nil
}

// twoPending waits until the scheduler has reported why both new members are Pending.
func (w *World) twoPending(ctx context.Context, c *clusters.Cluster) error {
	var why string
	err := clusters.Await(ctx, limit, fmt.Sprintf("two unschedulable members of %s", c), func(ctx context.Context) (string, bool, error) {
		members, err := c.Members(ctx)
		if err != nil {
			return "", false, err
		}
		waiting := 0
		for _, m := range members {
			if message := unschedulable(&m.Pod); message != "" {
				why, waiting = message, waiting+1
			}
		}
		return fmt.Sprintf("%d of %d unschedulable", waiting, len(members)), len(members) == 5 && waiting == 2, nil
	})
	if err != nil {
		return err
	}
	if _, err := w.showMembers(ctx, c); err != nil {
		return err
	}
	w.Report("scheduler: %s", why)
	w.Good("%s: with the literal anti-affinity two of five members stay Pending", c)
	return nil
}

func unschedulable(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return c.Message
		}
	}
	return ""
}
