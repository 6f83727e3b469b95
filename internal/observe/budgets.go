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
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Budget is a disruption budget that a value of ours can stand in.
type Budget struct {
	*policyv1.PodDisruptionBudget
	Value  annotation.BudgetValue
	Record annotation.BudgetRecord
}

// Budgets are the disruption budgets around one cluster.
type Budgets struct {
	// Managed is the one to keep, nil when there is none or it must be left alone.
	Managed *Budget
	// Duplicates are those that this project made and that must go, since the
	// members have another: eviction fails on a pod with two.
	Duplicates []*policyv1.PodDisruptionBudget
	// Detached were kept for this cluster and are not any more: their selector
	// was changed, or their value to one that can't be adopted. Those that
	// overlap are not among them: they stay as they are until one goes.
	Detached []*policyv1.PodDisruptionBudget
	// LeftAlone was kept for this cluster and is not any more, since it selects only some of
	// the members, or another cluster's, too, or is ours and somebody made of it what
	// can't be kept. It stays as it is; nil for none.
	LeftAlone *policyv1.PodDisruptionBudget
	// Problem says why no budget protects the members, nil when one does.
	Problem *policy.Note
	// NonMemberPods counts the Ready pods that Kept selects and that are no members.
	NonMemberPods int
}

// The reasons why a cluster's budget is not kept, beside those of one budget's own.
const (
	NoBudget       = "NoBudget"
	BudgetsOverlap = "BudgetsOverlap"
	BudgetPartial  = "BudgetPartial"
	BudgetShared   = "BudgetShared"
	// BudgetUncounted is of a budget that is kept, and can't say what is due.
	BudgetUncounted = "BudgetUncounted"
)

// Ours says whether this project made a budget, because there was none.
func Ours(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Labels[v1alpha1.CreatedByLabel] == v1alpha1.CreatedByController
}

// NotCopied says whether a budget of ours is the one that was made: a copy of it has
// another name or namespace, and is somebody's own.
func NotCopied(pdb *policyv1.PodDisruptionBudget) bool {
	return Ours(pdb) && pdb.Annotations[v1alpha1.BudgetMadeAnnotation] == pdb.Namespace+"/"+pdb.Name
}

// Budgets finds the budgets around an owner's cluster.
func (r *Reader) Budgets(ctx context.Context, owner Owner) (Budgets, error) {
	w, err := r.workload(ctx, owner)
	if err != nil {
		return Budgets{}, err
	}
	return r.budgets(ctx, &w, nil)
}

// OwnersOfBudget finds the clusters whose members a budget selects.
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

// budgets finds those around a workload. As is a budget that counts as it is
// given, whatever the API server has under its name; nil for none.
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

// recordUnmanaged sorts out the first of the budgets that select members, where it was kept until now.
func (b *Budgets) recordUnmanaged(w *workload, all []*policyv1.PodDisruptionBudget) {
	switch {
	case len(all) == 0 || !w.hasRecord(all[0]):
	case Ours(all[0]), b.Problem.Reason == BudgetPartial, b.Problem.Reason == BudgetShared:
		b.LeftAlone = all[0]
	default:
		b.Detached = append(b.Detached, all[0])
	}
}

// hasRecord says whether a budget was kept for this workload's owner.
func (w *workload) hasRecord(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Annotations[v1alpha1.BudgetForAnnotation] == w.owner.Ref()
}

// choose takes the foreign budget where there is one and ours where not.
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
		b.Problem = &policy.Note{Reason: NoBudget, Message: fmt.Sprintf("no budget selects the members of %s: nothing keeps a drain from evicting all of them; make one, or set disruption.createMissing in the policy", w.owner)}
		return b, nil
	}
	value, problem := annotation.ValueOf(only.Name, &only.Spec)
	if all := len(w.memberLabels()); problem == nil && w.selects(only) < all {
		problem = &policy.Note{Reason: BudgetPartial, Message: fmt.Sprintf("budget %s is left alone: it selects %d of the %d members of %s; let its selector match all", only.Name, w.selects(only), all, w.owner)}
	}
	if b.Problem = problem; problem != nil {
		return b, nil
	}
	nonMembers, other, err := r.nonMemberPods(ctx, w, only)
	if err != nil {
		return b, err
	}
	if other != "" {
		b.Problem = &policy.Note{Reason: BudgetShared, Message: fmt.Sprintf("budget %s is left alone: it selects members of both %s and %s, and no one number is right for two clusters; give each its own", only.Name, w.owner, other)}
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
		Reason: BudgetsOverlap,
		Message: fmt.Sprintf("budgets %s select the same member: every eviction of it fails with an internal error and drains stop; keep one of them",
			strings.Join(names, " and ")),
	}
}
