// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"cmp"
	"slices"
)

// history is the order in which clusters of listers may have been added to each other.
type history struct {
	// clusters are the listers of each. lists reports whether a lister lists an older one.
	clusters [][]int
	lists    func(newer, older int) bool
	// follows is true where one lists more than half of another, and after where a chain of such lists
	// leads from one to another.
	follows, after [][]bool
	// groups are those that were joined.
	groups partition
}

func newHistory(parts partition, units []int, lists func(newer, older int) bool) *history {
	h := &history{lists: lists}
	at := map[int]int{}
	for _, i := range slices.Sorted(slices.Values(units)) {
		first := parts.first(i)
		if _, known := at[first]; !known {
			at[first] = len(h.clusters)
			h.clusters = append(h.clusters, nil)
		}
		h.clusters[at[first]] = append(h.clusters[at[first]], i)
	}
	n := len(h.clusters)
	h.groups = newPartition(n)
	for a := range n {
		h.follows, h.after = append(h.follows, make([]bool, n)), append(h.after, make([]bool, n))
		for b := range n {
			h.follows[a][b] = a != b && h.listsMost(a, h.clusters[b])
			h.after[a][b] = h.follows[a][b]
		}
	}
	for via := range n {
		for a := range n {
			for b := range n {
				h.after[a][b] = h.after[a][b] || h.after[a][via] && h.after[via][b]
			}
		}
	}
	return h
}

// listsMost reports whether each lister of a cluster lists more than half of some others.
func (h *history) listsMost(cluster int, others []int) bool {
	return !slices.ContainsFunc(h.clusters[cluster], func(i int) bool {
		n := 0
		for _, j := range others {
			if h.lists(i, j) {
				n++
			}
		}
		return 2*n <= len(others)
	})
}

// oldestFirst returns the clusters so that each follows those that it is after. Those that are after
// themselves are left out.
func (h *history) oldestFirst() []int {
	var order []int
	before := make([]int, len(h.clusters))
	for a := range h.clusters {
		for b := range h.clusters {
			if h.after[a][b] {
				before[a]++
			}
		}
		if !h.after[a][a] {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(before[a], before[b]) })
	return order
}

// older returns a cluster of the group that another one was added to. It returns false for none.
func (h *history) older(newer int) (older int, found bool) {
	older = -1
	for b := range h.clusters {
		switch {
		case !h.follows[newer][b]:
		case h.contested(b), h.after[b][b], older >= 0 && h.groups.first(b) != h.groups.first(older):
			return -1, false
		default:
			older = b
		}
	}
	if older < 0 {
		return older, false
	}
	var group []int
	for b, some := range h.clusters {
		if h.groups.first(b) == h.groups.first(older) {
			group = append(group, some...)
		}
	}
	return older, h.listsMost(newer, group)
}

// contested reports whether two clusters follow one, and neither of them is after the other: they are two
// clusters, and it could be in either.
func (h *history) contested(at int) bool {
	for a := range h.clusters {
		for b := range h.clusters {
			if a != b && h.follows[a][at] && h.follows[b][at] && !h.after[a][b] && !h.after[b][a] {
				return true
			}
		}
	}
	return false
}
