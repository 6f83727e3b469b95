// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// apart returns the facts of a cluster whose members are run by one StatefulSet each. partitions has a letter
// for each: 1 for a pod that is held, 0 for one that is released, u for a StatefulSet that is not held any more.
// No policy has held the rollout for the settle time.
func apart(members, templates, partitions string) Facts {
	f := of(members, templates, 0)
	pods := f.Sets[0].Pods
	f.Sets, f.Unguarded, f.UnguardedFor, f.Since = nil, true, settle, settle
	for i, p := range pods {
		set := Set{Name: string(rune('a' + i)), Held: partitions[i] != 'u', Observed: true, Pods: []Pod{p}}
		if partitions[i] == '1' {
			set.Value.Partition = 1
		}
		f.Sets = append(f.Sets, set)
	}
	return f
}

func byHand(f *Facts) { f.Reason = "the incident of Monday" }

func leads(i int) func(*Facts) {
	return func(f *Facts) { f.Sets[i].Pods[0].Leader = true }
}

var endRows = []struct {
	row   string
	facts Facts
	want  string
}{
	{"O-26 well", apart("vvv", "ooo", "111"), "Release a of 011"},
	{"O-26 the leader is the last", with(apart("vvv", "ooo", "111"), leads(0)), "Release b of 101"},
	{"O-26 the first was released", apart("vvv", "ooo", "u11"), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 the first restarts", apart("vvv", "-oo", "u11"), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 the first is not ready yet", apart("xvv", "noo", "u11"), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 the first is back", apart("vvv", "noo", "u11"), "Release b of 001"},
	{"O-26 one is left, and another is not ready", apart("vxv", "nno", "uu1"), "Hold 001 RolloutReleasesOneByOne"},
	{"O-26 one is left", apart("vvv", "nno", "uu1"), "Release 000"},
	{"O-26 one was held", apart("vvv", "nno", "uu1"), "Release 000"},
	{"O-26 one that is down is the first", apart("vvx", "ooo", "111"), "Release c of 110"},
	{"O-26 two are down, with a quorum", apart("vxvxv", "ooooo", "11111"), "Hold 11111 RolloutReleasesOneByOne"},
	{"O-26 frozen", apart("vpv", "noo", "u11"), "Release b of 001"},
	{"O-26 for the hold limit", with(apart("xvv", "noo", "u11"), late), "Release b of 001"},
	{"O-26 no quorum for long", apart("xxv", "ooo", "111"), "Release a of 011"},
	{"O-26 no quorum, and the first is about to restart", with(apart("xxv", "ooo", "u11"), since(0)), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 no quorum, and the first has just started", with(apart("xxv", "noo", "u11"), func(f *Facts) { f.Sets[0].Pods[0].StartedFor = 0 }), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 no quorum, and the first has run for long", apart("xxv", "noo", "u11"), "Release b of 001"},
	{"O-26 no quorum for a moment", with(apart("xxv", "noo", "u11"), func(f *Facts) { f.Sets[0].Pods[0].NotReadyFor = time.Second }), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 a member is being evicted", with(apart("vvv", "ooo", "111"), func(f *Facts) { f.Leaving = []string{"main-2"} }), "Hold 111 RolloutReleasesOneByOne"},
	{"O-26 a member elsewhere", with(apart("vvv", "ooo", "111"), func(f *Facts) { f.Cluster.Size, f.Cluster.Elsewhere = 4, 1 }), "Hold 111 RolloutReleasesOneByOne"},
	{"O-26 leases", with(apart("vvv", "ooo", "111"), func(f *Facts) { f.Confirmed = false }), "Hold 111 RolloutReleasesOneByOne"},
	{"O-26 the first is not observed yet", with(apart("vvv", "ooo", "u11"), func(f *Facts) { f.Sets[0].Observed = false }), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 by hand", with(apart("vvv", "ooo", "111"), byHand), "Release a of 011"},
	{"O-26 by hand, and the first is not ready yet", with(apart("xvv", "noo", "u11"), byHand), "Hold 011 RolloutReleasesOneByOne"},
	{"O-26 by hand, for two minutes", with(with(apart("xvv", "noo", "u11"), byHand), since(outageLimit)), "Release b of 001"},
	{"O-26 by hand, and no quorum", with(apart("xxx", "ooo", "111"), byHand), "Release a of 011"},
}

// endText writes a step as in the table.
func endText(s Step) string {
	var values strings.Builder
	for _, v := range s.Values {
		fmt.Fprint(&values, v.Partition)
	}
	if s.Act == Release && s.Set != "" {
		return fmt.Sprintf("Release %s of %s", s.Set, values.String())
	}
	if s.Act == Release {
		return "Release " + values.String()
	}
	return fmt.Sprintf("Hold %s %s", values.String(), s.Reason)
}

func TestEndRows(t *testing.T) {
	t.Parallel()
	for _, r := range endRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			if got := Evaluate(r.facts, settings); endText(got) != r.want {
				t.Errorf("%s (%s), want %s", endText(got), got.Message, r.want)
			}
		})
	}
}

// TestEachEnd ends the hold in each state of clusters of two to four StatefulSets. No StatefulSet is released beside
// a member that is not ready or is about to stop, and each hold ends.
func TestEachEnd(t *testing.T) {
	t.Parallel()
	kinds := []string{"vo1", "vo0", "vou", "vnu", "xo1", "xnu", "po1", "-o1", "xOu"}
	for n := 2; n <= 4; n++ {
		count := 1
		for range n {
			count *= len(kinds)
		}
		for code := range count {
			var parts [3]string
			for rest := code; len(parts[0]) < n; rest /= len(kinds) {
				for i := range parts {
					parts[i] += kinds[rest%len(kinds)][i : i+1]
				}
			}
			members := strings.ReplaceAll(parts[0], "-", "x")
			for i := range n {
				if parts[0][i] == '-' {
					parts[1] = parts[1][:i] + "-" + parts[1][i+1:]
				}
			}
			checkEnd(t, apart(members, parts[1], parts[2]))
			if t.Failed() {
				t.Fatal(parts)
			}
		}
	}
}

// checkEnd compares the release of sets with a naive judgement, and then checks that the hold ends.
func checkEnd(t *testing.T, f Facts) {
	t.Helper()
	step := Evaluate(f, settings)
	quorum := f.Cluster.ReadyVoters() >= policy.Quorum(f.Cluster.Size)
	for at, set := range f.Sets {
		if !quorum || step.Values[at].Partition >= set.Value.Partition || set.Pods[0].Updated {
			continue
		}
		for i, other := range f.Sets {
			p := other.Pods[0]
			if i != at && (!p.well() || !p.Updated && step.Values[i].Partition == 0) {
				t.Errorf("%s, and %s is not ready or restarts", endText(step), other.Name)
			}
		}
	}
	checkEnds(t, f, step)
}

// checkEnds repeats the release of sets after the hold limit until none is held.
func checkEnds(t *testing.T, f Facts, step Step) {
	t.Helper()
	for range f.Sets {
		if step.Act == Release && step.Set == "" {
			return
		}
		f.Since = holdLimit
		step = Evaluate(f, settings)
		for i := range f.Sets {
			f.Sets[i].Value = step.Values[i]
			f.Sets[i].Held = f.Sets[i].Held && !step.Released[i]
		}
	}
	for _, set := range f.Sets {
		if set.Held && !set.complete() {
			t.Errorf("%s is held for ever: %s", set.Name, endText(step))
		}
	}
}

// TestSeveralAtOnce checks that a StatefulSet whose author lets several pods restart at once gets that back
// when no pod is left to restart, whatever ends the hold.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	for _, end := range []func(*Facts){byHand, unguardedFor(settle)} {
		f := with(with(of("vvv", "ooo", 3), several), end)
		for range 2 {
			step := Evaluate(f, settings)
			if step.Act != Release || step.Values[0].Partition != 0 || step.Released[0] {
				t.Errorf("%s, the author's strategy: %t", text(step), step.Released[0])
			}
			f.Sets[0].Value = step.Values[0]
		}
		f.Sets[0].Pods = with(of("vvv", "nnn", 0), several).Sets[0].Pods
		if step := Evaluate(f, settings); step.Reason != Complete || !step.Released[0] {
			t.Errorf("%s, the author's strategy: %t", text(step), step.Released[0])
		}
	}
	f := with(with(of("vvvv", "oooo", 4), several), unguardedFor(settle))
	first, second := f.Sets[0], f.Sets[0]
	first.Name, first.Pods, first.Value = "a", f.Sets[0].Pods[:2], Value{}
	second.Name, second.Pods, second.Value = "b", f.Sets[0].Pods[2:], Value{Partition: 2}
	f.Sets = []Set{first, second}
	if step := Evaluate(f, settings); endText(step) != "Hold 02 RolloutReleasesOneByOne" {
		t.Errorf("the first is held again, or the second is released beside it: %s", endText(step))
	}
}
