// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
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
		first := Generate(seed, Length)
		if diff := cmp.Diff(first, Generate(seed, Length)); diff != "" {
			t.Fatalf("seed %d has two sequences:\n%s", seed, diff)
		}
		if cmp.Diff(first.Steps, Generate(seed+1, Length).Steps) != "" {
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
	stops := map[string]bool{"kill etcd": true, "freeze etcd": true, "isolate the node": true}
	for seed := range uint64(seeds) {
		s := Generate(seed, 3*Length)
		stopped := make([]int, s.Size)
		for i, step := range s.Steps {
			by := 1
			if step.End {
				by = -1
			}
			for member := range stopped {
				if stops[step.Fault] && member == step.Member || step.Fault == "scale" && !step.Refused && member >= step.Size {
					stopped[member] += by
				}
			}
			down := 0
			for _, n := range stopped {
				if n > 0 {
					down++
				}
			}
			if down > (s.Size-1)/2 {
				t.Fatalf("step %d stops %d of %d members:\n%s", i+1, down, s.Size, s)
			}
			if step.Refused && !step.End && s.Size-down > s.Size/2 && step.Size > s.Size/2 && down == 0 {
				t.Fatalf("step %d does not take the quorum:\n%s", i+1, s)
			}
		}
	}
}

// TestEveryFaultIsReached checks that each fault occurs, and beside each other fault that lasts, if
// their conditions allow it.
func TestEveryFaultIsReached(t *testing.T) {
	t.Parallel()
	reached, sizes, beside := map[string]int{}, map[int]int{}, map[string]bool{}
	refused := 0
	for seed := range uint64(seeds) {
		s := Generate(seed, Length)
		sizes[s.Size]++
		m := &model{size: s.Size}
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
// few last at the same time. Requests that only a policy or etcd-webhook can refuse occur only
// while these are there.
func TestEveryFaultEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		s := Generate(seed, Length)
		open, begun := map[Step]bool{}, 0
		is := func(name string) bool {
			for step := range open {
				if step.Fault == name {
					return true
				}
			}
			return false
		}
		for i, step := range s.Steps {
			opposite := step
			opposite.End = false
			f := faultOf(step.Fault)
			switch {
			case step.End && !open[opposite]:
				t.Fatalf("step %d ends what has not begun:\n%s", i+1, s)
			case step.End:
				delete(open, opposite)
				continue
			case open[step]:
				t.Fatalf("step %d begins what has not ended:\n%s", i+1, s)
			}
			begun++
			unguarded := is("delete the policy") || is("switch the policy off")
			unreviewed := unguarded || is("kill all replicas of etcd-webhook") || is("freeze all replicas of etcd-webhook")
			switch step.Fault {
			case "evict", "evict two at once", "drain the node":
				if unguarded {
					t.Fatalf("step %d is not guarded:\n%s", i+1, s)
				}
			case "delete the pod", "scale", "change the template":
				if unreviewed {
					t.Fatalf("step %d is not reviewed:\n%s", i+1, s)
				}
			}
			if f.lasts {
				open[step] = true
			}
			if len(open) > maxOpen {
				t.Fatalf("%d faults last after step %d:\n%s", len(open), i+1, s)
			}
		}
		if len(open) > 0 || begun != Length {
			t.Fatalf("%d faults begin, want %d; these never end: %v\n%s", begun, Length, open, s)
		}
	}
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
