// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"testing"
)

// TestPreview: what a plan shows is what the operation does. Each story of the model runs to its end where nothing goes wrong, and
// its writes are those of the preview.
func TestPreview(t *testing.T) {
	t.Parallel()
	for _, s := range stories() {
		want := written(t, s)
		steps, ends := Preview(s.before.observed(s.before), s.record)
		var got []Step
		for _, step := range steps {
			got = append(got, anyMember(step))
		}
		if !ends || !slices.EqualFunc(got, want, equalSteps) {
			t.Errorf("%s: the preview ends %t: %v, and the operation does %v", s.name, ends, acts(got), acts(want))
		}
	}
}

// TestPreviewStops: an operation that can't end has no preview that does.
func TestPreviewStops(t *testing.T) {
	t.Parallel()
	w := newWorld(3)
	w.begin()
	state := w.observed(w)
	state.Members[1].Ordinal = -1
	if steps, ends := Preview(state, Record{Operation: ScaleOut, Target: 5, Replicas: 3}); ends || len(steps) > 0 {
		t.Errorf("%+v, ends %t", steps, ends)
	}
	if state.Members[0].Healthy != w.healthy(0) {
		t.Error("the preview changed the state")
	}
}

// written returns the writes of a story in which nothing goes wrong, without a transfer of leadership.
func written(t *testing.T, s story) (steps []Step) {
	t.Helper()
	w := s.before
	w.deaths, w.elections = 0, 0
	for range 1000 {
		for next := w.moves(); len(next) > 0; next = w.moves() {
			w = next[0]
		}
		step := Next(w.observed(s.before), s.record)
		switch step.Act { //nolint:exhaustive // all others are writes
		case Done:
			return steps
		case Stop, Wait:
			t.Fatalf("%s: %+v", s.name, step)
		case MoveLeader:
		default:
			steps = append(steps, anyMember(step))
		}
		if fault := w.take(step, s.before, s.record); fault != "" {
			t.Fatalf("%s: %s by %+v", s.name, fault, step)
		}
	}
	t.Fatalf("%s: no end", s.name)
	return nil
}

// anyMember returns a step without the ID of a member that was added on the way.
func anyMember(s Step) Step {
	if s.Act == Promote {
		s.Member = 0
	}
	return s
}

func acts(steps []Step) (out []Act) {
	for _, s := range steps {
		out = append(out, s.Act)
	}
	return out
}

func equalSteps(a, b Step) bool {
	sameFlags := a.Bootstrap.equal(b.Bootstrap)
	a.Bootstrap, b.Bootstrap = BootstrapFlags{}, BootstrapFlags{}
	return sameFlags && a.Act == b.Act && a.Ordinal == b.Ordinal && a.Member == b.Member && a.Number == b.Number && a.Releases == b.Releases
}
