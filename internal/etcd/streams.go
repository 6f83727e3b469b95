// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"

	dto "github.com/prometheus/client_model/go"
)

// OpenSnapshots returns how many snapshots all clients are reading from a member: the calls
// that its metrics count as started and not as handled.
func (c *Cluster) OpenSnapshots(ctx context.Context, pod string) (int, error) {
	families, err := c.Metrics(ctx, pod)
	if err != nil {
		return 0, err
	}
	return openSnapshots(pod, families)
}

func openSnapshots(pod string, families map[string]*dto.MetricFamily) (int, error) {
	started, ok := families["grpc_server_started_total"]
	if !ok {
		return 0, fmt.Errorf("metrics of member %s: they don't count its calls (grpc_server_started_total)", pod)
	}
	return max(0, int(snapshotCalls(started)-snapshotCalls(families["grpc_server_handled_total"]))), nil
}

func snapshotCalls(family *dto.MetricFamily) float64 {
	var sum float64
	for _, m := range family.GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["grpc_service"] == "etcdserverpb.Maintenance" && labels["grpc_method"] == "Snapshot" {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum
}
