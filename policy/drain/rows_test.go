// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// stage is the facts of a row. A cluster is written as its members, as policytest.Kinds, and the
// nodes on which they run: "vvv abc". Node a is node-a.
type stage struct {
	clusters []string
	// drain are the nodes to drain, "abc". hosts are all nodes, by default drain and what runs members.
	drain, hosts string
	// allowed is what the budget of each cluster allows, -1 for a cluster without one.
	allowed []int
	change  func(*Facts)
}

func (s stage) facts() Facts {
	var f Facts
	for _, n := range s.drain {
		f.Nodes = append(f.Nodes, Node{Name: node(n)})
	}
	hosts := s.hosts
	for _, letter := range s.drain + strings.Join(s.clusters, "") {
		if letter >= 'a' && letter <= 'f' && !strings.ContainsRune(hosts, letter) {
			hosts += string(letter)
		}
	}
	var names []string
	for _, h := range hosts {
		names = append(names, node(h))
		f.Hosts = append(f.Hosts, Host{Name: node(h), Zone: "zone-" + string(h), Open: true})
	}
	for i, text := range s.clusters {
		kinds, at, _ := strings.Cut(text, " ")
		c := policytest.ClusterOf(kinds)
		c.Name = fmt.Sprintf("c%d", i)
		cluster := Cluster{Facts: eviction.Facts{Cluster: c}}
		var budgets []string
		if i < len(s.allowed) && s.allowed[i] >= 0 {
			budgets = []string{c.Name}
			f.Budgets = append(f.Budgets, Budget{Namespace: "shoot", Name: c.Name, Text: "minAvailable=2", Allowed: s.allowed[i]})
		}
		for j := range c.Members {
			m := &c.Members[j]
			m.Pod = fmt.Sprintf("c%d-%d", i, j)
			m.Node = node(rune(at[j]))
			cluster.Pods = append(cluster.Pods, Pod{Name: m.Pod, Node: m.Node, Ready: m.PodReady, Budgets: budgets, Hosts: names, ApartByHost: true})
		}
		f.Clusters = append(f.Clusters, cluster)
	}
	if s.change != nil {
		s.change(&f)
	}
	return f
}

func node(letter rune) string { return "node-" + string(letter) }

// short writes a plan as its waves, "a+b c", and the blocked nodes with their reasons. A slash
// divides batches.
func short(p Plan) string {
	var parts []string
	for _, w := range p.Waves {
		nodes := strings.ReplaceAll(strings.Join(w.Nodes, "+"), "node-", "")
		if len(w.Batches) > 1 {
			nodes += fmt.Sprintf("/%d", len(w.Batches))
		}
		parts = append(parts, nodes)
	}
	for _, b := range p.Blocked {
		var reasons []string
		for _, c := range b.Causes {
			reasons = append(reasons, c.Reason.Name())
		}
		parts = append(parts, strings.TrimPrefix(b.Node, "node-")+"="+strings.Join(reasons, ","))
	}
	return strings.Join(parts, " ")
}

// nodeRows are the rows about nodes.
var nodeRows = []struct {
	row string
	stage
	want string
	// later are the reasons why nodes are not in the first wave.
	later string
}{
	{row: "DP-1", stage: stage{drain: "a", change: func(f *Facts) { f.Nodes[0].Fails = []string{"cannot delete Pods"} }}, want: "a=OtherPodsBlock"},
	{row: "DP-1 and DP-4", stage: stage{clusters: []string{"vvv abc"}, drain: "a", allowed: []int{0}, change: func(f *Facts) { f.Nodes[0].Fails = []string{"cannot delete Pods"} }}, want: "a=OtherPodsBlock,BudgetBlocks"},
	{row: "DP-2", stage: stage{clusters: []string{"vvv abc"}, drain: "a", change: func(f *Facts) { f.Clusters[0].Pods[0].Budgets = []string{"x", "y"} }}, want: "a=SeveralBudgets"},
	{row: "DP-2 of an idle pod", stage: stage{clusters: []string{"vvv abc"}, drain: "a", change: func(f *Facts) {
		f.Clusters[0].Pods[0].Budgets, f.Clusters[0].Pods[0].Idle = []string{"x", "y"}, true
	}}, want: "a"},
	{row: "DP-3", stage: stage{clusters: []string{"vxv abc"}, drain: "abc"}, want: "b a=QuorumNeedsMember c=QuorumNeedsMember"},
	{row: "DP-3 two members", stage: stage{clusters: []string{"vv ab"}, drain: "a"}, want: "a=QuorumNeedsMember"},
	{row: "DP-3 stale", stage: stage{clusters: []string{"ppx abc"}, drain: "abc", change: func(f *Facts) { f.Clusters[0].Cluster.Stale = true }}, want: "c a=FactsStale b=FactsStale"},
	{row: "DP-3 size unknown", stage: stage{clusters: []string{"v a"}, drain: "a", change: func(f *Facts) { f.Clusters[0].Cluster.SizeUnknown = "a Secret" }}, want: "a=SizeUnknown"},
	{row: "DP-3 under way", stage: stage{clusters: []string{"vvv abc"}, drain: "ab", change: func(f *Facts) { f.Clusters[0].UnderWay = []eviction.UnderWay{{Pod: "c0-2"}} }}, want: "a=EvictionUnderWay b=EvictionUnderWay"},
	{row: "DP-4", stage: stage{clusters: []string{"vvv abc"}, drain: "ab", allowed: []int{0}}, want: "a=BudgetBlocks b=BudgetBlocks"},
	{row: "DP-4 behind", stage: stage{clusters: []string{"vvv abc"}, drain: "a", allowed: []int{1}, change: func(f *Facts) { f.Budgets[0].Behind = true }}, want: "a=BudgetBlocks"},
	{row: "DP-4 not Ready", stage: stage{clusters: []string{"vvx abc"}, drain: "c", allowed: []int{0}}, want: "c=BudgetBlocks"},
	{row: "DP-4 not Ready, but may go", stage: stage{clusters: []string{"vvx abc"}, drain: "c", allowed: []int{0}, change: func(f *Facts) { f.Budgets[0].UnreadyGo = true }}, want: "c"},
	{row: "DP-5", stage: stage{clusters: []string{"vvv aab"}, drain: "a"}, want: "a=MembersShareNode"},
	{row: "DP-5 the only other node is drained too", stage: stage{clusters: []string{"vvv aab"}, drain: "ac"}, want: "c a=MembersShareNode"},
	{row: "DP-6", stage: stage{clusters: []string{"vvv aab"}, drain: "a", hosts: "c"}, want: "a/2"},
	{row: "DP-6 beside others", stage: stage{clusters: []string{"vvv aab", "v d"}, drain: "ad", hosts: "c"}, want: "a/2 d", later: "MembersInBatches"},
	{row: "DP-6 not known", stage: stage{clusters: []string{"vvv aab"}, drain: "a", change: func(f *Facts) { f.Clusters[0].Pods[0].HostsUnknown, f.Clusters[0].Pods[1].HostsUnknown = "x", "x" }}, want: "a/2"},
	{row: "DP-6 another cluster leaves last", stage: stage{clusters: []string{"vvv aab", "v a"}, drain: "a", hosts: "c", change: func(f *Facts) { f.Clusters[1].Pods[0].Hosts = nil }}, want: "a/2"},
	{row: "DP-7", stage: stage{clusters: []string{"vvv abc"}, drain: "abc"}, want: "a b c", later: "WaveQuorum WaveQuorum"},
	{row: "DP-7 two of five", stage: stage{clusters: []string{"vvvvv abcde"}, drain: "abcde"}, want: "a+b c+d e", later: "WaveQuorum WaveQuorum WaveQuorum"},
	{row: "DP-7 two clusters", stage: stage{clusters: []string{"vvv abc", "vvv def"}, drain: "abcdef"}, want: "a+d b+e c+f", later: "WaveQuorum WaveQuorum WaveQuorum WaveQuorum"},
	{row: "DP-7 crossed clusters", stage: stage{clusters: []string{"vvv abc", "vvv abd"}, drain: "abcd"}, want: "a b c+d", later: "WaveQuorum WaveQuorum WaveQuorum"},
	{row: "DP-8", stage: stage{clusters: []string{"vvvvv abcde"}, drain: "ab", allowed: []int{1}}, want: "a b", later: "WaveBudget"},
	{row: "DP-8 of two clusters", stage: stage{clusters: []string{"vvv abc", "vvv def"}, drain: "ad", allowed: []int{1, 1}, change: func(f *Facts) {
		for i := range f.Clusters[1].Pods {
			f.Clusters[1].Pods[i].Budgets = []string{"c0"}
		}
	}}, want: "a d", later: "WaveBudget"},
	{row: "DP-9", stage: stage{drain: "ab"}, want: "a+b"},
	{row: "DP-9 static pods", stage: stage{clusters: []string{"vvv abc"}, drain: "abc", change: func(f *Facts) {
		for i := range f.Clusters[0].Pods {
			f.Clusters[0].Pods[i].Stays = true
		}
	}}, want: "a+b+c"},
	{row: "DP-9 one member", stage: stage{clusters: []string{"v a"}, drain: "ab"}, want: "a+b"},
	{row: "DP-9 beside a broken member", stage: stage{clusters: []string{"vvvvx abcde"}, drain: "ae"}, want: "a+e"},
}

func TestNodeRows(t *testing.T) {
	t.Parallel()
	for _, r := range nodeRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			p := Evaluate(r.facts())
			if got := short(p); got != r.want {
				t.Errorf("got %s, want %s", got, r.want)
			}
			var later []string
			if len(p.Waves) > 0 {
				for _, l := range p.Waves[0].Later {
					later = append(later, l.Cause.Reason.Name())
				}
			}
			if got := strings.Join(later, " "); got != r.later {
				t.Errorf("later: got %q, want %q", got, r.later)
			}
		})
	}
}

// backRows are the rows about what is awaited.
var backRows = []struct {
	row string
	stage
	// want has for each wave its members with their reasons, and the node to uncordon.
	want string
}{
	{row: "DP-10", stage: stage{clusters: []string{"vvv abc"}, drain: "ab", hosts: "d"}, want: "c0-0:AwaitMember | c0-1:AwaitUncordon@node-b"},
	{row: "DP-10 the first node is uncordoned", stage: stage{clusters: []string{"vvv abc"}, drain: "ab"}, want: "c0-0:AwaitUncordon@node-a | c0-1:AwaitUncordon@node-b"},
	{row: "DP-10 a blocked node stays open", stage: stage{clusters: []string{"vvv abc"}, drain: "ad", change: func(f *Facts) { f.Nodes[1].Fails = []string{"x"} }}, want: "c0-0:AwaitMember"},
	{row: "DP-11", stage: stage{clusters: []string{"vvv abc"}, drain: "a"}, want: "c0-0:AwaitUncordon@node-a"},
	{row: "DP-11 cordoned", stage: stage{clusters: []string{"vvv abc"}, drain: "a", hosts: "d", change: func(f *Facts) { f.Hosts[0].Open = false }}, want: "c0-0:AwaitUncordon@node-a"},
	{row: "DP-11 its volume", stage: stage{clusters: []string{"vvv abc"}, drain: "a", hosts: "d", change: func(f *Facts) { f.Clusters[0].Pods[0].Hosts = []string{"node-a"} }}, want: "c0-0:AwaitUncordon@node-a"},
	{row: "DP-11 no node at all", stage: stage{clusters: []string{"vvv abc"}, drain: "a", hosts: "d", change: func(f *Facts) { f.Clusters[0].Pods[0].Hosts = nil }}, want: "c0-0:AwaitUncordon@"},
	{row: "DP-11 no term keeps members apart", stage: stage{clusters: []string{"vvv abc"}, drain: "a", change: func(f *Facts) { f.Clusters[0].Pods[0].ApartByHost = false }}, want: "c0-0:AwaitMember"},
	{row: "DP-11 the free node is in the zone of another", stage: stage{clusters: []string{"vvv abc"}, drain: "a", hosts: "d", change: func(f *Facts) {
		f.Hosts[0].Zone = "zone-b"
		f.Clusters[0].Pods[0].ApartByZone = true
	}}, want: "c0-0:AwaitUncordon@node-a"},
	{row: "DP-10 the free node is in a zone of its own", stage: stage{clusters: []string{"vvv abc"}, drain: "a", hosts: "d", change: func(f *Facts) { f.Clusters[0].Pods[0].ApartByZone = true }}, want: "c0-0:AwaitMember"},
	{row: "DP-10 the one with fewer nodes chooses first", stage: stage{clusters: []string{"vvvvv abcde"}, drain: "ab", hosts: "f", change: func(f *Facts) { f.Clusters[0].Pods[1].Hosts = []string{"node-b", "node-f"} }}, want: "c0-0:AwaitUncordon@node-a c0-1:AwaitMember"},
	{row: "DP-12", stage: stage{clusters: []string{"vvv abc"}, drain: "a", change: func(f *Facts) { f.Clusters[0].Pods[0].HostsUnknown = "no permission" }}, want: "c0-0:HostsUnknown"},
	{row: "DP-13", stage: stage{clusters: []string{"vvx abc"}, drain: "c", hosts: "d"}, want: "c0-2:"},
}

func TestBackRows(t *testing.T) {
	t.Parallel()
	for _, r := range backRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			var waves []string
			for _, w := range Evaluate(r.facts()).Waves {
				var backs []string
				for _, b := range w.Back {
					text := b.Pod + ":" + b.Reason.Name()
					if b.Reason == AwaitUncordon {
						text += "@" + b.Uncordon
					}
					backs = append(backs, text)
				}
				waves = append(waves, strings.Join(backs, " "))
			}
			if got := strings.Join(waves, " | "); got != r.want {
				t.Errorf("got %s, want %s", got, r.want)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	p := Evaluate(stage{clusters: []string{"vvv abc"}, drain: "ab"}.facts())
	want := "without c0-0 and c0-1, etcd cluster shoot/c0 would have 1 of 3 voters healthy, and quorum is 2"
	if got := p.Waves[0].Later[0].Cause.Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = "no other node can run pod shoot/c0-0: uncordon node-a after its maintenance, and wait until the pod is ready"
	if got := p.Waves[0].Back[0].Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p = Evaluate(stage{clusters: []string{"vvvvv abcde"}, drain: "ab", allowed: []int{1}}.facts())
	want = "budget shoot/c0 (minAvailable=2) allows 1 eviction at the same time, and c0-0, c0-1 would be evicted"
	if got := p.Waves[0].Later[0].Cause.Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
