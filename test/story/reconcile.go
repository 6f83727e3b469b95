// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// reconcile has druid write everything again, with and without the webhook.
func reconcile(ctx context.Context, w *World) error {
	// The pods of a cluster that has just grown are rolled by druid itself.
	if err := awaitReady(ctx, w.main, w.grow); err != nil {
		return err
	}
	before, err := w.snapshot(ctx, w.main, w.grow)
	if err != nil {
		return err
	}
	w.tellSnapshot(before)
	for range 2 {
		if err := w.reconcileAll(ctx, w.main, w.grow); err != nil {
			return err
		}
	}
	if err := w.disturb(ctx, "reconcile"); err != nil {
		return err
	}
	if err := w.scaleWebhook(ctx, 0); err != nil {
		return err
	}
	if err := w.reconcileAll(ctx, w.main, w.grow); err != nil {
		return err
	}
	if err := w.scaleWebhook(ctx, webhookReplicas); err != nil {
		return err
	}
	after, err := w.snapshot(ctx, w.main, w.grow)
	if err != nil {
		return err
	}
	w.tellSnapshot(after)
	if diff := cmp.Diff(before, after); diff != "" {
		return fmt.Errorf("druid's reconciles changed something (-before +after):\n%s", diff)
	}
	w.Good("three reconciles, one of them without the webhook: the same pods, no restart, the same generations")
	return nil
}

func (w *World) reconcileAll(ctx context.Context, all ...*clusters.Cluster) error {
	for _, c := range all {
		w.Do("kubectl annotate etcd %s druid.gardener.cloud/operation=reconcile -n %s", c.Name, c.Namespace)
		if err := c.Reconcile(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lives is what must not change: the generation of the StatefulSet, and each
// member's pod with its restarts.
type lives struct {
	Generation int64
	Pods       map[string]string
}

func (w *World) snapshot(ctx context.Context, all ...*clusters.Cluster) (map[string]lives, error) {
	seen := map[string]lives{}
	for _, c := range all {
		sts, err := c.StatefulSet(ctx)
		if err != nil {
			return nil, err
		}
		members, err := c.Members(ctx)
		if err != nil {
			return nil, err
		}
		l := lives{Generation: sts.Generation, Pods: map[string]string{}}
		for _, m := range members {
			restarts := 0
			for _, s := range m.Pod.Status.ContainerStatuses {
				restarts += int(s.RestartCount)
			}
			l.Pods[m.Pod.Name] = fmt.Sprintf("%s restarts %d", m.Pod.UID, restarts)
		}
		seen[c.String()] = l
	}
	return seen, nil
}

func (w *World) tellSnapshot(seen map[string]lives) {
	rows := [][]string{{"STATEFULSET", "GENERATION", "POD", "UID AND RESTARTS"}}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		for _, pod := range slices.Sorted(maps.Keys(seen[name].Pods)) {
			rows = append(rows, []string{name, strconv.FormatInt(seen[name].Generation, 10), pod, seen[name].Pods[pod]})
		}
	}
	w.Table(rows...)
}
