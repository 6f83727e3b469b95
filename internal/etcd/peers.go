// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"strconv"

	dto "github.com/prometheus/client_model/go"
)

// InactivePeers returns the IDs of the members to which a member has no connection, from its
// metrics. While its leader has such a peer, etcd adds no member ("unhealthy cluster"), even
// if that peer is healthy: a leader can fail to notice that the peer has returned.
func (c *Cluster) InactivePeers(ctx context.Context, pod string) ([]uint64, error) {
	families, err := c.Metrics(ctx, pod)
	if err != nil {
		return nil, err
	}
	return inactivePeers(families["etcd_network_active_peers"]), nil
}

func inactivePeers(family *dto.MetricFamily) []uint64 {
	var ids []uint64
	for _, m := range family.GetMetric() {
		if m.GetGauge().GetValue() > 0 {
			continue
		}
		for _, l := range m.GetLabel() {
			if id, err := strconv.ParseUint(l.GetValue(), 16, 64); l.GetName() == "Remote" && err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
