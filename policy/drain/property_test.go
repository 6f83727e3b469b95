// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

const letters = "abcd"

// everyPlacement calls f with all clusters of up to size members: all combinations of kinds, on all
// combinations of four nodes.
func everyPlacement(size int, kinds string, f func(cluster string)) {
	var fill func(members, nodes string, from int)
	fill = func(members, nodes string, from int) {
		if members != "" {
			f(members + " " + nodes)
		}
		if len(members) == size {
			return
		}
		for k := from; k < len(kinds)*len(letters); k++ { // members in order, since they are alike
			fill(members+kinds[k/len(letters):][:1], nodes+letters[k%len(letters):][:1], k)
		}
	}
	fill("", "", 0)
}

// fits is the naive rule about a set of nodes: each cluster keeps more than half of its voters
// healthy, unless it has one member, and each budget allows the Ready pods that go.
func (s stage) fits(nodes string) bool {
	for i, cluster := range s.clusters {
		kinds, at, _ := strings.Cut(cluster, " ")
		voters, healthy, gone, ready, learnerGoes := 0, 0, 0, 0, false
		for j, kind := range kinds {
			leaves := strings.ContainsRune(nodes, rune(at[j]))
			voters += policytest.ToInt(kind != 'V')
			healthy += policytest.ToInt(kind == 'v' && !leaves)
			gone += policytest.ToInt(leaves)
			learnerGoes = learnerGoes || leaves && kind == 'V'
			ready += policytest.ToInt(leaves) // no pod goes for free by these budgets
		}
		if learnerGoes { // it may have been promoted
			voters++
		}
		if gone > 0 && len(kinds) > 1 && 2*healthy <= voters {
			return false
		}
		if i < len(s.allowed) && s.allowed[i] >= 0 && ready > s.allowed[i] {
			return false
		}
	}
	return true
}

// fewest returns the smallest number of waves into which nodes can be divided.
func (s stage) fewest(nodes string) int {
	best := make([]int, 1<<len(nodes))
	for set := 1; set < len(best); set++ {
		best[set] = bits.OnesCount(uint(set)) + 1
		for wave := set; wave > 0; wave = (wave - 1) & set {
			var chosen strings.Builder
			for i, n := range nodes {
				if wave>>i&1 == 1 {
					chosen.WriteRune(n)
				}
			}
			if s.fits(chosen.String()) {
				best[set] = min(best[set], best[set&^wave]+1)
			}
		}
	}
	return best[len(best)-1]
}

func plain(nodes ...string) string {
	return strings.ReplaceAll(strings.Join(nodes, ""), "node-", "")
}

// check compares one plan with the naive rule. It returns how many waves there are more than needed.
func (s stage) check(t *testing.T, f Facts, p Plan) int {
	t.Helper()
	seen := ""
	together := "" // the nodes that are drained in one batch
	for i, w := range p.Waves {
		nodes := plain(w.Nodes...)
		seen += nodes
		if len(w.Batches) > 1 {
			continue
		}
		together += nodes
		if !s.fits(nodes) {
			t.Errorf("%+v: wave %s does not fit", s, nodes)
		}
		for _, later := range p.Waves[i+1:] {
			for _, n := range later.Nodes {
				if len(later.Batches) < 2 && s.fits(nodes+plain(n)) {
					t.Errorf("%+v: %s fits into wave %s", s, n, nodes)
				}
			}
		}
	}
	for _, b := range p.Blocked {
		seen += plain(b.Node)
		if s.fits(plain(b.Node)) {
			t.Errorf("%+v: %s is blocked, and fits", s, b.Node)
		}
	}
	for _, n := range s.drain {
		if strings.Count(seen, string(n)) != 1 {
			t.Errorf("%+v: nodes %s", s, seen)
		}
	}
	r := rand.New(rand.NewPCG(1, uint64(len(seen))))
	for _, shuffled := range []any{f.Nodes, f.Hosts, f.Clusters, f.Budgets} {
		r.Shuffle(reflect.ValueOf(shuffled).Len(), reflect.Swapper(shuffled))
	}
	if again := Evaluate(f); !reflect.DeepEqual(again, p) {
		t.Errorf("%+v: another order of the facts has another result", s)
	}
	waves := 0
	for _, w := range p.Waves {
		waves += policytest.ToInt(len(w.Batches) < 2)
	}
	return waves - s.fewest(together)
}

// batchesKeepQuorum holds for waves in batches: no batch takes the quorum of a cluster whose other members
// are as they were.
func (s stage) batchesKeepQuorum(t *testing.T, f Facts, p Plan) int {
	t.Helper()
	n := 0
	for _, w := range p.Waves {
		for _, batch := range w.Batches {
			n++
			for i, cluster := range s.clusters {
				kinds, _, _ := strings.Cut(cluster, " ")
				healthy, voters := 0, 0
				for j, kind := range kinds {
					pod := f.Clusters[i].Pods[j].Name
					leaves := slices.ContainsFunc(batch, func(e Eviction) bool { return e.Pod == pod })
					voters += policytest.ToInt(kind != 'V')
					healthy += policytest.ToInt(kind == 'v' && !leaves)
				}
				if before := strings.Count(kinds, "v"); len(kinds) > 1 && 2*before > voters && 2*healthy <= voters {
					t.Errorf("%+v: batch %v takes the quorum of cluster %d", s, batch, i)
				}
			}
		}
	}
	return n
}

// TestEveryPlacement compares the plans of all placements of one cluster, with all budgets, and of two
// clusters, with the naive rule.
func TestEveryPlacement(t *testing.T) {
	t.Parallel()
	plans, batches, worst, more := 0, 0, 0, 0
	examine := func(s stage) {
		f := s.facts()
		p := Evaluate(f)
		batches += s.batchesKeepQuorum(t, f, p)
		extra := s.check(t, f, p) // it shuffles the facts
		plans++
		worst = max(worst, extra)
		more += policytest.ToInt(extra > 0)
	}
	everyPlacement(5, "vxV", func(cluster string) {
		for allowed := -1; allowed <= 2; allowed++ {
			examine(stage{clusters: []string{cluster}, drain: letters, hosts: "ef", allowed: []int{allowed}})
		}
	})
	var small []string
	everyPlacement(3, "v", func(cluster string) { small = append(small, cluster) })
	for _, a := range small {
		for _, b := range small {
			examine(stage{clusters: []string{a, b}, drain: letters, hosts: "ef"})
		}
	}
	if worst > 0 {
		t.Errorf("a plan has %d waves more than are needed", worst)
	}
	if plans < 10000 || batches < 1000 {
		t.Errorf("%d plans, %d batches", plans, batches)
	}
	t.Logf("%d plans, %d batches, %d plans with a wave more than needed", plans, batches, more)
}
