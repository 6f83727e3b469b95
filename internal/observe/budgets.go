// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Budget is a disruption budget whose value this project can set.
type Budget struct {
	*policyv1.PodDisruptionBudget
	Value  annotation.BudgetValue
	Record annotation.BudgetRecord
}

// Budgets are the disruption budgets of one cluster.
type Budgets struct {
	// Managed is the budget whose value this project sets. It is nil where there is none, and
	// where this project must not change it.
	Managed *Budget
	// Duplicates are budgets that this project created and that must be deleted, since the
	// members have another: an eviction of a pod with two budgets fails.
	Duplicates []*policyv1.PodDisruptionBudget
	// Detached are budgets that were managed for this cluster and no longer are: their selector
	// has changed, or their value to one that can't be adopted. Budgets that overlap are not
	// among them: they stay unchanged until one is deleted.
	Detached []*policyv1.PodDisruptionBudget
	// LeftAlone is a budget that was managed for this cluster and no longer is, and that stays
	// unchanged: it selects only some of the members, or another cluster's too, or this
	// project created it and another client gave it a value that can't be adopted. Nil for
	// none.
	LeftAlone *policyv1.PodDisruptionBudget
	// Problem is why no budget protects the members, nil where one does.
	Problem *policy.Note
	// NonMemberPods is how many Ready pods Managed selects that are no members.
	NonMemberPods int
}

// Ours reports whether this project created a budget, because there was none.
func Ours(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Labels[v1alpha1.CreatedByLabel] == v1alpha1.CreatedByController
}

// NotCopied reports whether this project created a budget under its present name. A copy, which
// belongs to its author, has another name or namespace.
func NotCopied(pdb *policyv1.PodDisruptionBudget) bool {
	return Ours(pdb) && pdb.Annotations[v1alpha1.BudgetMadeAnnotation] == pdb.Namespace+"/"+pdb.Name
}

// Budgets reads the budgets of an owner's cluster.
func (r *Reader) Budgets(ctx context.Context, owner Owner) (Budgets, error) {
	w, err := r.workload(ctx, owner)
	if err != nil {
		return Budgets{}, err
	}
	return r.budgets(ctx, &w, nil)
}

// OwnersOfBudget returns the clusters whose members a budget selects.
func (r *Reader) OwnersOfBudget(ctx context.Context, pdb *policyv1.PodDisruptionBudget) ([]Owner, error) {
	owners, err := r.Owners(ctx, client.InNamespace(pdb.Namespace))
	if err != nil {
		return nil, err
	}
	var out []Owner
	for _, owner := range owners {
		w, err := r.workload(ctx, owner)
		if err != nil {
			return nil, err
		}
		if w.selects(pdb) > 0 {
			out = append(out, owner)
		}
	}
	return out, nil
}

// budgets reads the budgets of a workload. as is a budget that replaces the one that the API server
// has under its name, nil for none.
func (r *Reader) budgets(ctx context.Context, w *workload, as *policyv1.PodDisruptionBudget) (Budgets, error) {
	var list policyv1.PodDisruptionBudgetList
	if err := r.List(ctx, &list, client.InNamespace(w.owner.Namespace)); err != nil {
		return Budgets{}, fmt.Errorf("list budgets of %s: %w", w.owner, err)
	}
	if as != nil {
		list.Items = slices.DeleteFunc(list.Items, func(b policyv1.PodDisruptionBudget) bool { return b.Name == as.Name })
		list.Items = append(list.Items, *as)
	}
	var ours, foreign, recorded []*policyv1.PodDisruptionBudget
	for i := range list.Items {
		pdb := &list.Items[i]
		switch {
		case w.selects(pdb) == 0:
			if w.hasRecord(pdb) {
				recorded = append(recorded, pdb)
			}
		case Ours(pdb):
			ours = append(ours, pdb)
		default:
			foreign = append(foreign, pdb)
		}
	}
	b, err := r.choose(ctx, w, ours, foreign)
	if err != nil {
		return Budgets{}, err
	}
	b.Detached = recorded
	if b.Managed == nil && len(foreign) <= 1 {
		b.recordUnmanaged(w, append(foreign, ours...))
	}
	return b, nil
}

// recordUnmanaged records the first of the budgets that select members as LeftAlone or Detached, where
// it was managed until now.
func (b *Budgets) recordUnmanaged(w *workload, all []*policyv1.PodDisruptionBudget) {
	switch {
	case len(all) == 0 || !w.hasRecord(all[0]):
	case Ours(all[0]), b.Problem.Reason == reasons.BudgetPartial, b.Problem.Reason == reasons.BudgetShared:
		b.LeftAlone = all[0]
	default:
		b.Detached = append(b.Detached, all[0])
	}
}

// hasRecord reports whether a budget was managed for this workload's owner.
func (w *workload) hasRecord(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Annotations[v1alpha1.BudgetForAnnotation] == w.owner.Ref()
}

// choose takes the foreign budget where there is one, and else ours.
func (r *Reader) choose(ctx context.Context, w *workload, ours, foreign []*policyv1.PodDisruptionBudget) (Budgets, error) {
	var b Budgets
	slices.SortFunc(ours, func(x, y *policyv1.PodDisruptionBudget) int {
		return x.CreationTimestamp.Compare(y.CreationTimestamp.Time)
	})
	var only *policyv1.PodDisruptionBudget
	switch {
	case len(foreign) > 1:
		b.Duplicates, b.Problem = ours, overlap(foreign)
		return b, nil
	case len(foreign) == 1:
		only, b.Duplicates = foreign[0], ours
	case len(ours) > 0:
		only, b.Duplicates = ours[0], ours[1:]
	default:
		b.Problem = &policy.Note{Reason: reasons.NoBudget, Message: fmt.Sprintf("no budget selects the members of %s: nothing keeps a drain from evicting all of them; make one, or set disruption.createMissing in the policy", w.owner)}
		return b, nil
	}
	value, problem := annotation.ValueOf(only.Name, &only.Spec)
	if all := len(w.memberLabels()); problem == nil && w.selects(only) < all {
		problem = &policy.Note{Reason: reasons.BudgetPartial, Message: fmt.Sprintf("budget %s is left alone: it selects %d of the %d members of %s; let its selector match all", only.Name, w.selects(only), all, w.owner)}
	}
	if b.Problem = problem; problem != nil {
		return b, nil
	}
	nonMembers, other, err := r.nonMemberPods(ctx, w, only)
	if err != nil {
		return b, err
	}
	if other != "" {
		b.Problem = &policy.Note{Reason: reasons.BudgetShared, Message: fmt.Sprintf("budget %s is left alone: it selects members of both %s and %s, and no one number is right for two clusters; give each its own", only.Name, w.owner, other)}
		return b, nil
	}
	b.NonMemberPods = nonMembers
	b.Managed = &Budget{
		PodDisruptionBudget: only, Value: value,
		Record: annotation.DecodeBudgetRecord(only.Annotations, r.Leases.Clock.Now()),
	}
	return b, nil
}

func overlap(foreign []*policyv1.PodDisruptionBudget) *policy.Note {
	var names []string
	for _, pdb := range foreign {
		names = append(names, pdb.Name)
	}
	slices.Sort(names)
	return &policy.Note{
		Reason: reasons.BudgetsOverlap,
		Message: fmt.Sprintf("budgets %s select the same member: every eviction of it fails with an internal error and drains stop; keep one of them",
			strings.Join(names, " and ")),
	}
}
