// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// indices has members that seem to lag asked once more. The first answers came as each
// connection was open, some of them seconds after others, and clients wrote meanwhile.
func (g *gatherer) indices(ctx context.Context, cluster *etcd.Cluster) {
	if gap(g.Survey.Value.Members) < lagging {
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

// closer gives members the raft indices of a second answer, where every one gave it
// and they are closer together. What else they said stays.
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

// gap is how far the last of those that answered is behind the first.
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
