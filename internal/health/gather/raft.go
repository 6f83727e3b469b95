// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// indices asks the members again where one seems to lag. The first answers came when each
// connection was ready, some seconds after others, and clients wrote meanwhile.
func (g *gatherer) indices(ctx context.Context, cluster *etcd.Cluster) {
	if gap(g.Survey.Value.Members) <= health.LagWarn {
		return
	}
	again := make([]etcd.Member, len(g.Survey.Value.Members))
	var all []func()
	for i, m := range g.Survey.Value.Members {
		if again[i] = m; m.Err == nil {
			all = append(all, func() { again[i] = cluster.Status(ctx, m.Pod) })
		}
	}
	together(all...)
	closer(g.Survey.Value.Members, again)
}

// closer replaces the members' raft indices by those of a second answer, where every
// member gave one and they are closer together.
func closer(members, again []etcd.Member) {
	for i := range members {
		if members[i].Err == nil && again[i].Err != nil {
			return
		}
	}
	if gap(again) >= gap(members) {
		return
	}
	for i := range members {
		members[i].RaftIndex, members[i].RaftApplied = again[i].RaftIndex, again[i].RaftApplied
	}
}

// gap returns how far the slowest of those that answered is behind the fastest.
func gap(members []etcd.Member) uint64 {
	var first, most uint64
	for _, m := range members {
		first = max(first, m.RaftIndex)
	}
	for _, m := range members {
		if m.Err == nil {
			most = max(most, first-min(m.RaftApplied, first))
		}
	}
	return most
}
