// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// board is the facts in a fixed order, by node.
type board struct {
	facts Facts
	fails map[string][]string
	// on has the members that a drain of a node evicts.
	on      map[string][]member
	budgets map[string]Budget
}

// member is a pod with its cluster.
type member struct {
	cluster *Cluster
	pod     Pod
}

func (c *Cluster) name() string { return c.Cluster.Namespace + "/" + c.Cluster.Name }

func (m member) name() string { return m.cluster.Cluster.Namespace + "/" + m.pod.Name }

func (m member) eviction() Eviction {
	return Eviction{Namespace: m.cluster.Cluster.Namespace, Cluster: m.cluster.Cluster.Name, Pod: m.pod.Name, Node: m.pod.Node}
}

func newBoard(f Facts) *board {
	b := &board{facts: f, fails: map[string][]string{}, on: map[string][]member{}, budgets: map[string]Budget{}}
	for _, n := range f.Nodes {
		b.fails[n.Name] = n.Fails
	}
	for _, budget := range f.Budgets {
		b.budgets[budget.Namespace+"/"+budget.Name] = budget
	}
	for i := range f.Clusters {
		c := &f.Clusters[i]
		for _, pod := range c.Pods {
			if !pod.Stays {
				b.on[pod.Node] = append(b.on[pod.Node], member{cluster: c, pod: pod})
			}
		}
	}
	for _, members := range b.on {
		slices.SortFunc(members, compareMembers)
	}
	return b
}

func compareMembers(a, b member) int {
	return cmp.Or(
		cmp.Compare(a.cluster.Cluster.Namespace, b.cluster.Cluster.Namespace),
		cmp.Compare(a.cluster.Cluster.Name, b.cluster.Cluster.Name), cmp.Compare(a.pod.Name, b.pod.Name))
}

// order returns the nodes with most members first, then by name.
func (b *board) order() []string {
	var names []string
	for _, n := range b.facts.Nodes {
		names = append(names, n.Name)
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(len(b.on[y]), len(b.on[x])), cmp.Compare(x, y))
	})
	return names
}

// podsOn returns the members on nodes, in order.
func (b *board) podsOn(nodes ...string) []member {
	var out []member
	for _, n := range nodes {
		out = append(out, b.on[n]...)
	}
	slices.SortFunc(out, compareMembers)
	return out
}

// evict asks the rule about evictions for a pod while others leave.
func (m member) evict(others []member) eviction.Result {
	f := m.cluster.Facts
	f.Pod, f.Idle = m.pod.Name, m.pod.Idle
	f.UnderWay = slices.Clone(f.UnderWay)
	for _, o := range others {
		if o.cluster == m.cluster && o.pod.Name != m.pod.Name && !o.pod.Idle {
			f.UnderWay = append(f.UnderWay, eviction.UnderWay{Pod: o.pod.Name})
		}
	}
	return eviction.Evaluate(f)
}

// together reports whether pods can't all be evicted at the same time, and why. In a wave that is
// admitted, each eviction is allowed whatever others of the wave came before it.
func (b *board) together(pods []member) (policy.Note, bool) {
	for _, m := range pods {
		if r := m.evict(pods); !r.Allowed {
			return m.joint(pods, r.Verdict), true
		}
	}
	return b.overspent(pods)
}

// joint describes why a member can't leave together with others of its cluster.
func (m member) joint(pods []member, single policy.Verdict) policy.Note {
	var names []string
	for _, o := range pods {
		if o.cluster == m.cluster && !o.pod.Idle {
			names = append(names, o.pod.Name)
		}
	}
	if len(names) < 2 {
		return policy.NewNote(single.Reason, "%s", single.Message)
	}
	left, voters := m.cluster.without(names)
	return policy.NewNote(WaveQuorum, "without %s, etcd cluster %s would have %d of %d voters healthy, and quorum is %d",
		policy.List(names), m.cluster.name(), left, voters, policy.Quorum(voters))
}

// without returns how many voters are healthy without pods, and how many voters there are.
func (c *Cluster) without(pods []string) (healthy, voters int) {
	gone := append(slices.Clone(pods), c.Removed...)
	for _, u := range c.UnderWay {
		gone = append(gone, u.Pod)
	}
	voters = max(c.Cluster.Size, len(c.Cluster.Members))
	for _, m := range c.Cluster.Members {
		switch {
		case m.Learner:
			voters--
		case m.Ready && m.PodReady && m.Exists && !slices.Contains(gone, m.Pod):
			healthy++
		}
	}
	return healthy, voters
}

// overspent reports whether the pods need more evictions than a budget allows.
func (b *board) overspent(pods []member) (policy.Note, bool) {
	used := map[string][]string{}
	for _, m := range pods {
		budget, ok := b.budgetOf(m)
		key := budget.Namespace + "/" + budget.Name
		if !ok || m.pod.Idle || !m.pod.Ready && budget.UnreadyGo {
			continue
		}
		if used[key] = append(used[key], m.pod.Name); len(used[key]) > budget.Allowed {
			return policy.NewNote(WaveBudget, "budget %s (%s) allows %s at the same time, and %s would be evicted",
				key, budget.Text, policy.Count(budget.Allowed, "eviction"), strings.Join(used[key], ", ")), true
		}
	}
	return policy.Note{}, false
}

// budgetOf returns the only budget of a pod.
func (b *board) budgetOf(m member) (Budget, bool) {
	if len(m.pod.Budgets) != 1 {
		return Budget{}, false
	}
	budget, ok := b.budgets[m.cluster.Cluster.Namespace+"/"+m.pod.Budgets[0]]
	return budget, ok
}
