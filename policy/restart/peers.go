// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Two members are in contact if one of them can dial the other. So a member whose peer URLs are right is in
// contact with every other one. That gives two numbers. Before the members stop, half of them, rounded up, get
// the URLs of their next pods: these reach all others after the start. The rest keeps the URLs that it has, so
// that connections which break before the stop can be made again, and the pod template from before can be
// restored. Without a quorum, half of the members, rounded down, is what a candidate needs beside itself.

// NextUpdate returns the index of the member whose peer URLs etcd's list is to get next, and false for none:
// all have the right ones, or as many as are enough now. A member whose pod has these URLs already is the
// first, then one that is broken, because the others stay in contact by the URLs that they have.
func (c Coordinated) NextUpdate() (at int, ok bool) {
	enough := len(c.Members)
	if c.ByNextPods() {
		enough = (len(c.Members) + 1) / 2
	}
	if c.Mark == "" || c.Other != "" || c.listed() >= enough || !c.quorate() {
		return 0, false
	}
	order := c.UpdateOrder()
	if len(order) == 0 {
		return 0, false
	}
	return order[0], true
}

// UpdateOrder returns the indexes of the members whose peer URLs etcd's list is to get, in this order.
func (c Coordinated) UpdateOrder() (order []int) {
	rank := func(at int) int {
		switch m := c.Members[at]; {
		case m.PeersServed:
			return 0
		case m.unwell():
			return 1
		}
		return 2
	}
	for i, m := range c.Members {
		if m.PeersDiffer {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}

// ByNextPods reports whether the right peer URLs are those of the next pods. They are those of the pods if no
// other ones are to start.
func (c Coordinated) ByNextPods() bool { return c.At() != Starting && !c.Abort }

// listed returns how many members have the right peer URLs in etcd's list.
func (c Coordinated) listed() int {
	n := 0
	for _, m := range c.Members {
		if !m.PeersDiffer {
			n++
		}
	}
	return n
}

// apart reports whether the members would not reach each other after a start.
func (c Coordinated) apart() bool { return c.listed() < len(c.Members)/2 }

// fragile reports whether peer URLs must change although more voters are down than the two halves can spare.
// Members of one half are in contact with the other half, and not with each other. So with those that are
// healthy, each member needs a quorum of the other half and itself: else the only one that can win an election
// may be one that lacks entries of the others, and then none leads.
func (c Coordinated) fragile() bool {
	quorum := policy.Quorum(max(len(c.Members), c.Cluster.Size))
	return c.PeersDiffer() && c.quorate() && c.healthy() < 2*(quorum-1)
}

// PeersDiffer reports whether etcd's list has other peer URLs of a member than the right ones.
func (c Coordinated) PeersDiffer() bool {
	return slices.ContainsFunc(c.Members, func(m Member) bool { return m.PeersDiffer })
}

// quorate reports whether etcd can change its list.
func (c Coordinated) quorate() bool {
	return c.healthy() >= policy.Quorum(max(len(c.Members), c.Cluster.Size))
}

func (c Coordinated) healthy() int {
	n := 0
	for _, m := range c.Members {
		if m.Trouble == "" {
			n++
		}
	}
	return n
}

// update returns the act that sets the peer URLs of a member.
func (c Coordinated) update(at int) (Act, policy.Verdict) {
	return UpdatePeers, policy.Allow(PeersUpdated, "the peer URLs of %s in etcd's member list are set to those of its pod", c.Members[at].Pod)
}
