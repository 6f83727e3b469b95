// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// placement reads where members run and may run, and judges it by the policy that governs
// the cluster.
func (g *gatherer) placement(ctx context.Context) {
	match, err := topologypolicy.For(ctx, g.Reader, g.Owner)
	g.Policy = got(match, notServed(err))
	settings := spread.Settings{Topology: spread.TopologyAuto, ZoneKey: spread.ZoneKey}
	if match.Policy != nil {
		settings = topologypolicy.SpreadSettings(match.Policy)
	}
	members, err := scheduling.Placement(ctx, g.Reader, g.Owner, settings.ZoneKey)
	g.Placement = got(members, cmp.Or(err, g.refusal("pods")))
	outlook, err := g.outlook(ctx, settings.ZoneKey)
	g.Nodes = got(outlook.Nodes, cmp.Or(err, g.refusal("nodes")))
	g.Spread = spread.Evaluate(outlook, settings)
	g.Standing = got(spread.StatusOf(g.Size(), members, g.Spread.Topology, outlook.Nodes), cmp.Or(g.Nodes.Err, g.Placement.Err))
	if g.Standing.Err == nil && g.Standing.Value.Kept == policy.False && g.Owner.StatefulSet != "" {
		g.volumeNodes(ctx, settings.ZoneKey)
	}
}

// volumeNodes reads where the members' volumes let them run. A user who may not read volumes gets
// the advice of a cluster without them.
func (g *gatherer) volumeNodes(ctx context.Context, zoneKey string) {
	pod, found, err := scheduling.MemberPod(ctx, g.Reader, g.Owner)
	if err != nil || !found {
		return
	}
	facts, err := scheduling.Facts(ctx, g.Reader, g.Owner, pod, zoneKey)
	if err != nil {
		return
	}
	g.VolumeNodes = map[string][]string{}
	for i, v := range facts.Volumes {
		if v.State == spread.Bound {
			g.VolumeNodes[g.Owner.PodName(i)] = v.Nodes
		}
	}
}

func (g *gatherer) outlook(ctx context.Context, zoneKey string) (spread.Facts, error) {
	pod, found, err := scheduling.MemberPod(ctx, g.Reader, g.Owner)
	if err != nil {
		return spread.Facts{}, err
	}
	if !found {
		pods, err := g.Reader.MemberPods(ctx, g.Owner)
		if err != nil || len(pods) == 0 {
			return spread.Facts{}, err
		}
		pod = pods[0]
	}
	return scheduling.FactsOfCluster(ctx, g.Reader, g.Owner, pod, zoneKey)
}
