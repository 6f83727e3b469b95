// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policytest

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// LostNodes calls f with each cluster of up to size members in each state of [Kinds], at most one of which is a learner
// or missing, and with the same cluster for each set of its members whose nodes are lost. A lost node may only ever make
// a verdict stricter.
func LostNodes(size int, f func(members string, before, lost policy.Cluster)) {
	const voters, others = "vxpm", "VXPM-"
	call := func(members string) {
		before := ClusterOf(members)
		for nodes := range 1 << len(before.Members) {
			f(members, before, Lose(before, nodes))
		}
	}
	var fill func(members string, from int)
	fill = func(members string, from int) {
		if members != "" {
			call(members)
		}
		if len(members) == size {
			return
		}
		for _, other := range others {
			call(members + string(other))
		}
		for i := from; i < len(voters); i++ {
			fill(members+voters[i:i+1], i)
		}
	}
	fill("", 0)
}

// Lose returns a cluster of which the nodes of members are lost: nodes is a set of bits, one for each member.
func Lose(c policy.Cluster, nodes int) policy.Cluster {
	c.Members = slices.Clone(c.Members)
	for i, m := range c.Members {
		if nodes&(1<<i) != 0 {
			c.Members[i] = m.LoseNode("node " + strings.TrimPrefix(m.Pod, "main-") + " is not Ready")
		}
	}
	return c
}
