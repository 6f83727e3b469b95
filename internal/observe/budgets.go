// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Budget is a disruption budget whose value this project can set.
type Budget struct {
	*policyv1.PodDisruptionBudget
	Value  annotation.BudgetValue
	Record annotation.BudgetRecord
	// NoNumber reports whether another client left no number in the fields of a budget that this project created.
	// Such a budget refuses every eviction. Value is then the one that this project wrote last, and must be written
	// again.
	NoNumber bool
}

// Budgets are the disruption budgets of one cluster.
type Budgets struct {
	// Managed is the budget whose value this project sets. It is nil where there is none, and
	// where this project must not change it.
	Managed *Budget
	// Outdated is why the selector of Managed, which this project created, must become that of the
	// cluster: workloads have joined or left, or another client has changed it. Nil where it needn't.
	Outdated *policy.Note
	// Duplicates are budgets that this project created and that must be deleted, since the
	// members have another: an eviction of a pod with two budgets fails.
	Duplicates []*policyv1.PodDisruptionBudget
	// Standing is what the budgets over all members keep that may go for another one: Duplicates, and of several
	// budgets of other authors those that were made stricter. Whichever remains takes it over.
	Standing []Standing
	// Detached are budgets that were managed for this cluster and no longer are: their selector has changed, or
	// the fields of another author's to what no value can be set in.
	Detached []*policyv1.PodDisruptionBudget
	// Others select members too, and can't protect the cluster alone, or not beside Managed.
	// They are only made stricter.
	Others []Other
	// Problem is why no budget protects the members, nil where one does.
	Problem *policy.Note
	// Notes are what is wrong with the budgets although Managed protects the members.
	Notes []policy.Note
	// Largest is the largest size of the cluster that is recorded on its budgets.
	Largest annotation.LargestSize
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
func (r *Reader) Budgets(ctx context.Context, owner owner.Owner) (Budgets, error) {
	w, err := r.Workload(ctx, owner)
	if err != nil {
		return Budgets{}, err
	}
	return r.budgets(ctx, &w, nil)
}

// OwnersOfBudget returns the clusters whose members a budget selects.
func (r *Reader) OwnersOfBudget(ctx context.Context, pdb *policyv1.PodDisruptionBudget) ([]owner.Owner, error) {
	owners, err := r.Owners(ctx, client.InNamespace(pdb.Namespace))
	if err != nil {
		return nil, err
	}
	var out []owner.Owner
	for _, owner := range owners {
		w, err := r.Workload(ctx, owner)
		if err := cmp.Or(err, ctx.Err()); err != nil {
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
func (r *Reader) budgets(ctx context.Context, w *Workload, as *policyv1.PodDisruptionBudget) (Budgets, error) {
	if r.memo == nil {
		r = r.Remembering()
	}
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
		switch selects := w.selects(pdb) > 0; {
		case Ours(pdb) && (selects || w.reselected(pdb)):
			ours = append(ours, pdb)
		case !selects:
			if w.hasRecord(pdb) {
				recorded = append(recorded, pdb)
			}
		default:
			foreign = append(foreign, pdb)
		}
	}
	return r.choose(ctx, w, recorded, ours, foreign)
}

// hasRecord reports whether a budget was managed for this workload's owner.
func (w *Workload) hasRecord(pdb *policyv1.PodDisruptionBudget) bool {
	return w.owner.RefersTo(pdb.Annotations[v1alpha1.BudgetForAnnotation])
}

func overlap(foreign []judged) *policy.Note {
	var names []string
	for _, j := range foreign {
		names = append(names, j.Name)
	}
	slices.Sort(names)
	return &policy.Note{
		Reason: reasons.BudgetsOverlap,
		Message: fmt.Sprintf("budgets %s select the same member: every eviction of it fails with an internal error and drains stop; keep one of them",
			strings.Join(names, " and ")),
	}
}
