// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// alone returns why a node can't be drained even alone or, if it can, the batches in which its members
// are evicted.
func (b *board) alone(node string) (causes []policy.Note, batches [][]member) {
	for _, text := range b.fails[node] {
		causes = append(causes, policy.NewNote(OtherPodsBlock, "kubectl drain: %s", text))
	}
	for _, m := range b.on[node] {
		if cause, blocked := b.blocks(m); blocked {
			causes = append(causes, cause)
		}
	}
	if len(causes) > 0 {
		return causes, nil
	}
	batches = b.batches(b.on[node])
	for _, batch := range batches[:max(len(batches)-1, 0)] {
		for _, m := range batch {
			if !m.pod.Idle && m.pod.HostsUnknown == "" && b.newPlacement().find(m, nil) == "" {
				causes = append(causes, policy.NewNote(MembersShareNode,
					"%s runs members that can't leave together, and no other node that stays open can run %s: the next member would leave while it is down",
					node, m.name()))
			}
		}
	}
	return causes, batches
}

// blocks returns why the pod of a member can't be evicted even alone.
func (b *board) blocks(m member) (policy.Note, bool) {
	if m.pod.Idle {
		return policy.Note{}, false
	}
	if len(m.pod.Budgets) > 1 {
		return policy.NewNote(SeveralBudgets, "budgets %s select %s: every eviction of it fails with an internal error",
			policy.List(slices.Sorted(slices.Values(m.pod.Budgets))), m.name()), true
	}
	if r := m.evict(nil); !r.Allowed {
		return policy.NewNote(r.Reason, "%s", r.Message), true
	}
	budget, ok := b.budgetOf(m)
	switch {
	case !ok || !m.pod.Ready && budget.UnreadyGo:
	case budget.Behind:
		return policy.NewNote(BudgetBlocks, "the disruption controller has not read the last change of budget %s/%s yet, so %s can't be evicted",
			budget.Namespace, budget.Name, m.name()), true
	case budget.Allowed <= 0:
		return policy.NewNote(BudgetBlocks, "budget %s/%s (%s) allows no eviction now, so %s can't be evicted", budget.Namespace, budget.Name, budget.Text, m.name()), true
	}
	return policy.Note{}, false
}

// batches divides the members of a node into sets that can leave together, one after the other: each
// member goes to the first set that admits it. That one is the last batch, so that a member that can leave
// at any time is not awaited.
func (b *board) batches(members []member) [][]member {
	var batches [][]member
next:
	for _, m := range members {
		for i, batch := range batches {
			if _, refused := b.together(append(slices.Clone(batch), m)); !refused {
				batches[i] = append(batch, m)
				continue next
			}
		}
		batches = append(batches, []member{m})
	}
	slices.Reverse(batches)
	return batches
}
