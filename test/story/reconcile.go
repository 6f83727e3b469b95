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

// reconcile requests that druid writes all objects again, with and without the webhook.
func reconcile(ctx context.Context, w *World) error {
	// druid restarts the pods of a cluster after a scale-out.
	if err := awaitReady(ctx, w.main, w.grow); err != nil {
		return err
	}
	before, err := w.snapshot(ctx, w.main, w.grow)
	if err != nil {
		return err
	}
	w.showSnapshot(before)
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
	w.showSnapshot(after)
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

func (w *World) snapshot(ctx context.Context, all ...*clusters.Cluster) (map[string]clusters.Lives, error) {
	seen := map[string]clusters.Lives{}
	for _, c := range all {
		l, err := c.Lives(ctx)
		if err != nil {
			return nil, err
		}
		seen[c.String()] = l
	}
	return seen, nil
}

func (w *World) showSnapshot(seen map[string]clusters.Lives) {
	rows := [][]string{{"STATEFULSET", "GENERATION", "POD", "UID AND RESTARTS"}}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		for _, pod := range slices.Sorted(maps.Keys(seen[name].Pods)) {
			rows = append(rows, []string{name, strconv.FormatInt(seen[name].Generation, 10), pod, seen[name].Pods[pod]})
		}
	}
	w.Table(rows...)
}
