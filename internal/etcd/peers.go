// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"slices"
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
	return inactivePeers(families[activePeers]), nil
}

func inactivePeers(family *dto.MetricFamily) []uint64 {
	var ids []uint64
	for id, connections := range byPeer(family, "Remote") {
		if connections <= 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// byPeer returns the values of a metric by the ID of the member that a label names.
func byPeer(family *dto.MetricFamily, label string) map[uint64]float64 {
	values := map[uint64]float64{}
	for _, m := range family.GetMetric() {
		for _, l := range m.GetLabel() {
			if id, err := strconv.ParseUint(l.GetValue(), 16, 64); l.GetName() == label && err == nil {
				values[id] += m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
			}
		}
	}
	return values
}
