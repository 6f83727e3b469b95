// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"maps"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// lister is what one pod, or the members of one StatefulSet, show of their cluster.
type lister struct {
	namespace string
	// key is of what joins listers by itself, such as the object that owns them. Empty for none.
	key string
	// self and listed are entries of an initial cluster: the lister's own, and all that it lists.
	self, listed []etcdconf.Peer
}

// scoped is an entry or a key of a namespace.
type scoped struct {
	namespace, key string
	etcdconf.Peer
}

// listings are which listers list which. Listers with one key count as one, under the index of the first.
type listings struct {
	keys partition
	// of are the others that each lists. An entry that several advertise, or that identifies no member,
	// lists none.
	of []map[int]bool
}

// listingsOf reads the lists. It takes linear time, since anyone who may create pods decides how many
// there are.
func listingsOf(all []lister) *listings {
	l := &listings{keys: newPartition(len(all)), of: make([]map[int]bool, len(all))}
	keys := map[scoped]int{}
	for i, one := range all {
		key := scoped{namespace: one.namespace, key: one.key}
		if first, known := keys[key]; known && one.key != "" {
			l.keys.join(first, i)
		} else {
			keys[key] = i
		}
	}
	claimed := l.claims(all)
	for i, one := range all {
		at := l.keys.first(i)
		if l.of[at] == nil {
			l.of[at] = map[int]bool{}
		}
		for _, e := range one.listed {
			if j, known := claimed[scoped{namespace: one.namespace, Peer: e}]; known && j != several && j != at {
				l.of[at][j] = true
			}
		}
	}
	return l
}

// claims returns which lister advertises each entry.
func (l *listings) claims(all []lister) map[scoped]int {
	claimed := map[scoped]int{}
	for i, one := range all {
		for _, e := range one.self {
			of := scoped{namespace: one.namespace, Peer: e}
			if other, taken := claimed[of]; taken && other != l.keys.first(i) {
				claimed[of] = several
			} else if e.Identifies() {
				claimed[of] = l.keys.first(i)
			}
		}
	}
	return claimed
}

// several is the claimant of an entry that several advertise: which of them the others list is not known.
const several = -1

// mutual returns the clusters of listers that list each other.
func (l *listings) mutual() partition {
	out := slices.Clone(l.keys)
	l.each(func(i, j int) {
		if l.of[j][i] {
			out.join(i, j)
		}
	})
	return out
}

// join returns the clusters, also with members that were added later. Such a member lists those that were
// there, which need not list it: etcd starts no member whose list lacks one. So listers join an older
// cluster if each of them lists more than half of it, since some of it may have left before, and if no
// other could have joined it at the same time: of two members of a cluster, the later one or one between
// them has listed the earlier one. Where that does not show the cluster, there is none to join. join also
// returns which of them have joined an older cluster.
func (l *listings) join() (out partition, later []bool) {
	out, later = l.mutual(), make([]bool, len(l.of))
	near := slices.Clone(out)
	l.each(func(i, j int) { near.join(i, j) })
	units := map[int][]int{}
	for i := range l.of {
		if l.keys.first(i) == i {
			units[near.first(i)] = append(units[near.first(i)], i)
		}
	}
	for _, some := range units {
		if len(some) <= MaxMembersRead {
			l.joinLate(out, later, some)
		}
	}
	return out, later
}

// each calls f for all that list another one, in order.
func (l *listings) each(f func(i, j int)) {
	for i, others := range l.of {
		for _, j := range slices.Sorted(maps.Keys(others)) {
			f(i, j)
		}
	}
}

// joinLate joins clusters to older ones, and notes which. units are all that may be of one.
func (l *listings) joinLate(out partition, later []bool, units []int) {
	h := newHistory(out, units, func(i, j int) bool { return l.of[i][j] })
	for _, newer := range h.oldestFirst() {
		if older, found := h.older(newer); found {
			out.join(h.clusters[newer][0], h.clusters[older][0])
			h.groups.join(newer, older)
			for _, i := range h.clusters[newer] {
				later[i] = true
			}
		}
	}
}
