// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Step is one step of a sequence: the begin of a fault, or its end.
type Step struct {
	// Fault is the name of a fault in the table.
	Fault string
	// Member is the ordinal of the member that the fault is about.
	Member int
	// Size is how many replicas the fault scale asks for.
	Size int
	// Refused is set for the fault scale, if the guards have to refuse it at this moment.
	Refused bool
	// End is set for the end of a fault.
	End bool
}

// String describes the step for messages.
func (s Step) String() string {
	text := fmt.Sprintf("%s (member %d)", s.Fault, s.Member)
	if s.Size > 0 {
		text = fmt.Sprintf("%s to %d", s.Fault, s.Size)
	}
	if s.Refused {
		text += ", which takes the quorum"
	}
	if s.End {
		text = "end of " + text
	}
	return text
}

// model is what the generator knows of the cluster: which faults have begun and not ended.
type model struct {
	kind Kind
	// size is the number of members, without those that only the plugin adds: it may be refused.
	size int
	open []Step
}

// stopped returns the ordinals of the members that the open faults stop.
func (m *model) stopped() map[int]bool {
	all := map[int]bool{}
	for _, s := range m.open {
		for _, member := range m.stops(s) {
			all[member] = true
		}
	}
	return all
}

// stops returns the ordinals of the members that one fault stops until it ends.
func (m *model) stops(s Step) []int {
	switch f := faultOf(s.Fault); {
	case f.stops:
		return []int{s.Member}
	case f.scales && !s.Refused:
		var all []int
		for ordinal := s.Size; ordinal < m.size; ordinal++ {
			all = append(all, ordinal)
		}
		return all
	}
	return nil
}

// keepsQuorum reports whether a majority is left when also these members stop.
func (m *model) keepsQuorum(also []int) bool {
	stopped := m.stopped()
	for _, member := range also {
		stopped[member] = true
	}
	return m.size-len(stopped) >= policy.Quorum(m.size)
}

// isOpen reports whether one of these faults has begun and not ended.
func (m *model) isOpen(names ...string) bool {
	return slices.ContainsFunc(m.open, func(s Step) bool { return slices.Contains(names, s.Fault) })
}

// guarded reports whether a policy is in force.
func (m *model) guarded() bool { return !m.isOpen(policyDeleted, policyOff) }

// reviewed reports whether a policy is in force and etcd-webhook reviews requests. Without
// etcd-webhook, only the budget protects the cluster, and only from evictions.
func (m *model) reviewed() bool { return m.guarded() && !m.isOpen(webhookKilled, webhookPaused) }

// may reports whether a step is possible now.
func (m *model) may(s Step) bool {
	f := faultOf(s.Fault)
	switch {
	case f.lasts && m.isOpen(s.Fault) && !f.stops:
		return false
	case f.stops:
		return !m.stopped()[s.Member] && m.keepsQuorum([]int{s.Member})
	case f.may != nil:
		return f.may(m)
	}
	return true
}

// begin records the begin of a fault.
func (m *model) begin(s Step) {
	if faultOf(s.Fault).lasts {
		m.open = append(m.open, s)
	}
}

// end removes an open fault, and returns the step that ends it.
func (m *model) end(i int) Step {
	s := m.open[i]
	m.open = slices.Delete(m.open, i, i+1)
	s.End = true
	return s
}

// notAmong returns the indexes of the open faults that are not among these steps.
func (m *model) notAmong(steps []Step) []int {
	var all []int
	for i, s := range m.open {
		if !slices.Contains(steps, s) {
			all = append(all, i)
		}
	}
	return all
}
