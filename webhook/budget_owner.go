// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// budgetKeeper is a cluster that a budget selects members of, with what its policy makes of the budget.
type budgetKeeper struct {
	owner owner.Owner
	// policy is the one that the budget is judged by, nil if it isn't judged for this cluster. The Decision is
	// then that on the write.
	policy   *v1alpha1.EtcdTopologyPolicy
	decision Decision
	// unkept is the Decision on a budget that no policy keeps for the cluster any more, nil while one does.
	unkept *Decision
	// recorded reports whether the budget was kept for this cluster until now.
	recorded bool
}

// The claims of clusters to a budget that they share, the strongest one last.
const (
	claimsNothing = iota
	previewsBudget
	holdsBudget
	keepsBudget
	keepsRecordedBudget
)

// claim returns how strong the cluster's claim to the budget is.
func (k *budgetKeeper) claim() int {
	switch {
	case k.policy == nil:
		return claimsNothing
	case k.unkept != nil:
		return holdsBudget
	case k.policy.Spec.Mode == v1alpha1.ModeWarn:
		return previewsBudget
	case k.recorded:
		return keepsRecordedBudget
	}
	return keepsBudget
}

// keeperOf returns the cluster that a write of a budget is judged for. Of several that share the budget, it is
// one for which a policy keeps it, and of these the one that the record names. If there is none, it is the
// one for which it was kept until now. So a cluster that opts out doesn't loosen the budget of another one. Where
// the policy of one of them can't be read and none of the others keeps the budget, the write can't be judged.
func (h *budgetHandler) keeperOf(ctx context.Context, w *budgetWrite, owners []owner.Owner, req admission.Request) budgetKeeper {
	var best, unread budgetKeeper
	for i, o := range owners {
		k := h.keeper(ctx, w, o, req)
		if k.decision.Outcome == FailedOpen {
			unread = k
		}
		if i == 0 || k.claim() > best.claim() {
			best = k
		}
		if best.claim() == keepsRecordedBudget {
			return best
		}
	}
	if best.claim() < holdsBudget && unread.decision.Outcome == FailedOpen {
		unread.decision = w.keepWithoutFacts(unread.decision)
		return unread
	}
	return best
}

// keeper returns the policy that the budget of an owner is judged by.
func (h *budgetHandler) keeper(ctx context.Context, w *budgetWrite, o owner.Owner, req admission.Request) budgetKeeper {
	k := budgetKeeper{owner: o, recorded: w.recordedFor(o)}
	if err := ctx.Err(); err != nil { // the cache answers also after a deadline
		k.decision = unobserved("budget", req, err)
		return k
	}
	// A cluster that no policy applies to, or whose policy leaves budgets alone.
	k.policy, k.decision = governing(ctx, h.reader, o, req, "budget")
	if k.policy != nil && !k.policy.Spec.Disruption.On() {
		k.policy, k.decision = nil, Decision{Outcome: Ignored, Reason: reasons.DisruptionDisabled}
	}
	switch {
	case k.policy == nil && k.recorded && k.decision.Outcome != FailedOpen:
		k.policy, k.unkept = &v1alpha1.EtcdTopologyPolicy{}, new(k.decision)
	case k.policy != nil && k.recorded && k.policy.Spec.Mode == v1alpha1.ModeWarn:
		k.unkept = &Decision{Outcome: Warned, Reason: reasons.PolicyWarns, Policy: k.policy.Name}
	}
	return k
}
