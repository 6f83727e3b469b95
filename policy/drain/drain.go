// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package drain is the rule about drains of several nodes: which nodes can be drained together, in
// which waves, and what must happen between two waves. Its table is docs/rules/drain.md.
//
// It asks the rule about evictions for each member, as the eviction guard does, and counts what the
// disruption budgets allow. It knows nothing of other pods but whether kubectl drain evicts them.
package drain

import (
	"cmp"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Plan is the result of the rule. Each node is in one wave or among the blocked ones.
type Plan struct {
	Waves   []Wave
	Blocked []Blocked
}

// Wave is a set of nodes that can be drained at the same time.
type Wave struct {
	// Nodes are sorted by name.
	Nodes []string
	// Batches are the members' pods to evict. All pods of a batch may be evicted at the same time. The
	// next batch begins when the members of the one before are ready again. Nearly all waves have
	// at most one batch.
	Batches [][]Eviction
	// Interrupted are the clusters with one member, which the wave stops.
	Interrupted []string
	// Later are the nodes that would fit in but for these causes.
	Later []Later
	// Back is what must happen before the next wave, for each evicted member.
	Back []Back
}

// Later is why a node is not in a wave but in a later one.
type Later struct {
	Node  string
	Cause policy.Note
}

// Eviction is the eviction of a member's pod.
type Eviction struct{ Namespace, Cluster, Pod, Node string }

// Blocked is a node that can't be drained now.
type Blocked struct {
	Node string
	// Causes are all that were found. There is at least one.
	Causes []policy.Note
}

// Evaluate returns the waves.
//
// It is first-fit decreasing: the nodes with most members come first, then by name, and each goes
// to the first wave that admits it beside the nodes that are in it already.
func Evaluate(f Facts) Plan {
	b := newBoard(f)
	var p Plan
	var waves [][]string
	for _, node := range b.order() {
		switch causes, batches := b.alone(node); {
		case len(causes) > 0:
			p.Blocked = append(p.Blocked, Blocked{Node: node, Causes: causes})
		case len(batches) > 1: // it fits beside no other node
			waves = append(waves, []string{node})
		default:
			waves = b.fit(waves, node)
		}
	}
	slices.SortFunc(p.Blocked, func(a, b Blocked) int { return cmp.Compare(a.Node, b.Node) })
	for i, nodes := range waves {
		p.Waves = append(p.Waves, b.wave(nodes, waves[i+1:]))
	}
	b.comeBack(&p)
	return p
}

// fit adds a node to the first wave that admits it, or to a new one.
func (b *board) fit(waves [][]string, node string) [][]string {
	for i, nodes := range waves {
		if _, batches := b.alone(nodes[0]); len(nodes) == 1 && len(batches) > 1 {
			continue
		}
		if _, refused := b.together(b.podsOn(append(slices.Clone(nodes), node)...)); !refused {
			waves[i] = append(nodes, node)
			return waves
		}
	}
	return append(waves, []string{node})
}

// wave describes a wave. later are the waves after it.
func (b *board) wave(nodes []string, later [][]string) Wave {
	w := Wave{Nodes: slices.Sorted(slices.Values(nodes))}
	batches := [][]member{b.podsOn(nodes...)}
	if len(nodes) == 1 {
		_, batches = b.alone(nodes[0])
	}
	for _, batch := range batches {
		var evictions []Eviction
		for _, m := range batch {
			evictions = append(evictions, m.eviction())
			if m.cluster.Cluster.Single() && !m.pod.Idle {
				w.Interrupted = append(w.Interrupted, m.cluster.name())
			}
		}
		if len(evictions) > 0 {
			w.Batches = append(w.Batches, evictions)
		}
	}
	for _, others := range later {
		for _, node := range others {
			w.Later = append(w.Later, Later{Node: node, Cause: b.why(nodes, node)})
		}
	}
	slices.SortFunc(w.Later, func(a, b Later) int { return cmp.Compare(a.Node, b.Node) })
	return w
}

// why returns the cause for which a node is not drained together with others.
func (b *board) why(nodes []string, node string) policy.Note {
	for _, n := range append([]string{node}, nodes...) {
		if _, batches := b.alone(n); len(batches) > 1 {
			return policy.NewNote(MembersInBatches, "%s runs several members of one cluster, which are evicted in batches, so it is drained alone", n)
		}
	}
	cause, _ := b.together(b.podsOn(append(slices.Clone(nodes), node)...))
	return cause
}
