// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	// Length is the number of faults in a sequence. It is the same for all, so that the seed
	// alone determines a sequence.
	Length = 8
	// maxOpen is how many faults may last at the same time. With more of them, most requests are
	// refused, and the sequence shows nothing.
	maxOpen = 4
)

// Kind is what a sequence is played on.
type Kind string

// The kinds of clusters.
const (
	// Plain is a StatefulSet of three or five members.
	Plain Kind = "plain"
	// Scaled is one of three members that the plugin scales to five and back.
	Scaled Kind = "scaled"
	// Druid is an Etcd of three members.
	Druid Kind = "druid"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Plain, Scaled, Druid} }

// Sequence is a cluster's size and the steps to play on it. Every fault that lasts also ends.
type Sequence struct {
	Kind  Kind
	Seed  uint64
	Size  int
	Steps []Step
}

// String returns the steps, one in each line.
func (s Sequence) String() string {
	lines := []string{fmt.Sprintf("%s cluster, seed %d, %d members", s.Kind, s.Seed, s.Size)}
	for i, step := range s.Steps {
		lines = append(lines, fmt.Sprintf("%2d %s", i+1, step))
	}
	return strings.Join(lines, "\n")
}

// Generate returns the sequence of a seed with this many faults, on a cluster of a kind.
func Generate(kind Kind, seed uint64, faults int) Sequence {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // random tests, no secrets
	s := Sequence{Kind: kind, Seed: seed, Size: 3}
	if r.IntN(5) == 0 && kind == Plain {
		s.Size = 5
	}
	m := &model{kind: kind, size: s.Size}
	for begun := 0; begun < faults; {
		// A fault that has begun last does not end yet, so that something happens while it lasts.
		last := s.Steps[max(0, len(s.Steps)-1):]
		ends := m.notAmong(last)
		if n := len(ends); n > 0 && (len(m.open) == maxOpen || r.IntN(3) == 0) {
			s.Steps = append(s.Steps, m.end(ends[r.IntN(n)]))
			continue
		}
		step := draw(r, m)
		m.begin(step)
		s.Steps = append(s.Steps, step)
		begun++
	}
	for len(m.open) > 0 {
		s.Steps = append(s.Steps, m.end(len(m.open)-1))
	}
	return s
}

// draw returns a step that is possible now. Each fault has as many lots as its weight.
func draw(r *rand.Rand, m *model) Step {
	member, size := r.IntN(m.size), 1+r.IntN(m.size-1)
	var lots []Step
	for i := range table {
		f := &table[i]
		if !f.on(m.kind) {
			continue
		}
		s := Step{Fault: f.name, Member: member}
		if f.scales {
			s.Size = size
			s.Refused = !m.keepsQuorum(m.stops(s))
		}
		if !m.may(s) {
			continue
		}
		for range f.weight {
			lots = append(lots, s)
		}
	}
	return lots[r.IntN(len(lots))] // some faults are always possible
}
