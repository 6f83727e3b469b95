// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"fmt"
	"slices"
)

// Order returns the pods that are still to be restarted, in their order: members that are broken,
// learners, followers from the highest ordinal, the leader.
func Order(f Facts) []string {
	var order []string
	for _, at := range f.order() {
		order = append(order, f.Members[at].Pod)
	}
	return order
}

// next returns the member that is restarted next.
func (f Facts) next() (int, bool) {
	order := f.order()
	if len(order) == 0 {
		return 0, false
	}
	return order[0], true
}

func (f Facts) order() []int {
	var left []int
	for i, m := range f.Members {
		if m.Recorded && !m.New && (f.Only == "" || f.Only == m.Pod) {
			left = append(left, i)
		}
	}
	slices.SortFunc(left, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.Members[a].rank(), f.Members[b].rank()), cmp.Compare(b, a))
	})
	return left
}

// rank returns the position of a kind of member in the order.
func (m Member) rank() int {
	switch {
	case m.Broken():
		return 0
	case m.Learner:
		return 1
	case m.Leader:
		return 3
	}
	return 2
}

// awaited returns what a restart that has begun waits for.
func (m Member) awaited() string {
	switch {
	case m.Leaving:
		return m.Pod + " stops"
	case !m.Exists:
		return m.Pod + " is to be created again"
	case m.unwell():
		return fmt.Sprintf("%s has started again and is not healthy yet: %s", m.Pod, m.problem())
	}
	return fmt.Sprintf("%s has started again and is %d entries behind the leader", m.Pod, m.Behind)
}

// problem returns why a member is not well.
func (m Member) problem() string {
	if m.NodeLost != "" {
		return m.NodeLost
	}
	if m.Trouble != "" {
		return m.Trouble
	}
	return "its pod is not Ready"
}
