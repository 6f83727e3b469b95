// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seeds is how many sequences each test generates.
const seeds = 2000

// TestSameSeedSameSequence checks that a seed alone determines a sequence.
func TestSameSeedSameSequence(t *testing.T) {
	t.Parallel()
	different := 0
	for seed := range uint64(seeds) {
		first := Generate(Plain, seed, Length)
		if diff := cmp.Diff(first, Generate(Plain, seed, Length)); diff != "" {
			t.Fatalf("seed %d has two sequences:\n%s", seed, diff)
		}
		if cmp.Diff(first.Steps, Generate(Plain, seed+1, Length).Steps) != "" {
			different++
		}
	}
	if different < seeds*9/10 {
		t.Errorf("only %d of %d sequences differ from the next", different, seeds)
	}
}

// TestMajorityStays checks, by another count than the generator's, that the test itself never
// stops more than a minority: by signals, by isolated nodes, and by replicas that the guards admit.
func TestMajorityStays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		s := Generate(Plain, seed, 3*Length)
		stopped := make([]int, s.Size) // by how many faults, for each member
		for i, step := range s.Steps {
			down := 0
			for member := range stopped {
				if stopsMember(step, member) && step.End {
					stopped[member]--
				} else if stopsMember(step, member) {
					stopped[member]++
				}
				down += min(1, stopped[member])
			}
			if down > (s.Size-1)/2 {
				t.Fatalf("step %d stops %d of %d members:\n%s", i+1, down, s.Size, s)
			}
		}
	}
}

func stopsMember(s Step, member int) bool {
	switch s.Fault {
	case "kill etcd", "freeze etcd", "isolate the node":
		return member == s.Member
	case "scale":
		return !s.Refused && member >= s.Size
	}
	return false
}

// TestEveryFaultIsReached checks that each fault occurs, and beside each other fault that lasts, if
// their conditions allow it.
func TestEveryFaultIsReached(t *testing.T) {
	t.Parallel()
	reached, sizes, beside := map[string]int{}, map[int]int{}, map[string]bool{}
	refused := 0
	for seed := range uint64(seeds) {
		s := Generate(Plain, seed, Length)
		sizes[s.Size]++
		m := &model{kind: s.Kind, size: s.Size}
		for _, step := range s.Steps {
			if step.End {
				continue
			}
			reached[step.Fault]++
			if step.Refused {
				refused++
			}
			if faultOf(step.Fault).stops {
				beside[step.Fault] = beside[step.Fault] || len(m.open) > 0
			}
			m.begin(step)
		}
	}
	for _, f := range table {
		if !f.on(Plain) {
			continue
		}
		if reached[f.name] < seeds/20 {
			t.Errorf("%q occurs in %d steps of %d sequences", f.name, reached[f.name], seeds)
		}
		if f.stops && !beside[f.name] {
			t.Errorf("%q never occurs while another fault lasts", f.name)
		}
	}
	if sizes[3] < seeds/2 || sizes[5] < seeds/10 || refused < seeds/20 {
		t.Errorf("clusters by size: %v; %d writes of replicas that take the quorum", sizes, refused)
	}
}

// TestEveryFaultEnds checks that each fault that lasts has an end after it, and that no more than a
// few last at the same time.
func TestEveryFaultEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		s := Generate(Plain, seed, Length)
		begun := 0
		last := eachOpen(t, s, func(i int, _ Step, open map[Step]bool) {
			begun++
			if len(open) > maxOpen {
				t.Fatalf("%d faults last after step %d:\n%s", len(open), i+1, s)
			}
		})
		if len(last) > 0 || begun != Length {
			t.Fatalf("%d faults begin, want %d; these never end: %v\n%s", begun, Length, last, s)
		}
	}
}

// TestRequestsAreGuarded checks that requests that only a policy or etcd-webhook can refuse occur
// only while these are there.
func TestRequestsAreGuarded(t *testing.T) {
	t.Parallel()
	away := []string{"delete the policy", "switch the policy off"}
	absent := append(slices.Clone(away), "kill all replicas of etcd-webhook", "freeze all replicas of etcd-webhook")
	needs := map[string][]string{
		"evict": away, "evict two at once": away, "drain the node": away,
		"delete the pod": absent, "scale": absent, "change the template": absent,
	}
	for seed := range uint64(seeds) {
		s := Generate(Plain, seed, Length)
		eachOpen(t, s, func(i int, step Step, open map[Step]bool) {
			for other := range open {
				if slices.Contains(needs[step.Fault], other.Fault) {
					t.Fatalf("step %d occurs while %q lasts:\n%s", i+1, other, s)
				}
			}
		})
	}
}

// eachOpen calls begun for each fault that begins, with the faults that last then, and returns those
// that last at the end. It checks that every end has a begin.
func eachOpen(t *testing.T, s Sequence, begun func(i int, step Step, open map[Step]bool)) map[Step]bool {
	t.Helper()
	open := map[Step]bool{}
	for i, step := range s.Steps {
		opposite := step
		opposite.End = false
		if step.End != open[opposite] {
			t.Fatalf("step %d ends what has not begun, or begins what has not ended:\n%s", i+1, s)
		}
		if step.End {
			delete(open, opposite)
			continue
		}
		if faultOf(step.Fault).lasts {
			open[step] = true
		}
		begun(i, step, open)
	}
	return open
}

// TestTable checks that each fault is complete.
func TestTable(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, f := range table {
		if f.name == "" || f.weight <= 0 || f.do == nil || names[f.name] || (f.stops || f.scales) && !f.lasts {
			t.Errorf("%+v", f)
		}
		names[f.name] = true
	}
}

// TestKinds checks that each fault occurs on every kind of cluster on which it is possible, and on no other,
// and that on all of them a majority of the members of the beginning stays.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		reached := map[string]int{}
		for seed := range uint64(seeds) {
			s := Generate(kind, seed, Length)
			if s.Kind != kind || kind != Plain && s.Size != 3 {
				t.Fatalf("%s", s)
			}
			eachOpen(t, s, func(_ int, step Step, open map[Step]bool) {
				reached[step.Fault]++
				down := 0
				for other := range open {
					if stopsMember(other, other.Member) {
						down++
					}
				}
				if kind != Plain && down > 1 {
					t.Fatalf("%d members are stopped:\n%s", down, s)
				}
			})
		}
		for i := range table {
			f := &table[i]
			if n := reached[f.name]; n > 0 != f.on(kind) {
				t.Errorf("%s: %q occurs %d times", kind, f.name, n)
			}
		}
	}
}
