// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Budget is a disruption budget that a value of ours can stand in.
type Budget struct {
	*policyv1.PodDisruptionBudget
	Value  BudgetValue
	Record BudgetRecord
}

// Budgets are the disruption budgets around one cluster.
type Budgets struct {
	// Kept is the one to keep, nil when there is none or it must be left alone.
	Kept *Budget
	// Surplus are those that this project made and that must go, since the
	// members have another: eviction fails on a pod with two.
	Surplus []*policyv1.PodDisruptionBudget
	// Strayed were kept for this cluster and are not any more: their selector
	// was changed, or their fields to what nothing of ours can stand in.
	Strayed []*policyv1.PodDisruptionBudget
	// Others select members, too, and can't protect the cluster alone, or not beside Kept.
	// They are only made stricter.
	Others []Other
	// Problem says why no budget protects the members, nil when one does.
	Problem *policy.Note
	// Notes are what is wrong with the budgets although Kept protects the members.
	Notes []policy.Note
	// Largest is the largest size of the cluster that is recorded on its budgets.
	Largest LargestSize
	// Strangers counts the Ready pods that Kept selects and that are no members.
	Strangers int
}

// The reasons why a cluster's budget is not kept, beside those of one budget's own.
const (
	NoBudget       = "NoBudget"
	BudgetsOverlap = "BudgetsOverlap"
	BudgetPartial  = "BudgetPartial"
	BudgetShared   = "BudgetShared"
	// BudgetNotAlone is of a foreign budget that also selects pods that are no members.
	BudgetNotAlone = "BudgetNotAlone"
	// BudgetUncounted is of a budget that is kept, and can't say what is due.
	BudgetUncounted = "BudgetUncounted"
)

// Ours says whether this project made a budget, because there was none.
func Ours(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Labels[v1alpha1.CreatedByLabel] == v1alpha1.CreatedByController
}

// Original says whether a budget of ours is the one that was made: a copy of it has
// another name or namespace, and is somebody's own.
func Original(pdb *policyv1.PodDisruptionBudget) bool {
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
			if w.records(pdb) {
				recorded = append(recorded, pdb)
			}
		case Ours(pdb):
			ours = append(ours, pdb)
		default:
			foreign = append(foreign, pdb)
		}
	}
	return r.choose(ctx, w, recorded, ours, foreign)
}

// records says whether a budget was kept for this workload's owner.
func (w *workload) records(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Annotations[v1alpha1.BudgetForAnnotation] == w.owner.Ref()
}

func overlap(foreign []judged) *policy.Note {
	var names []string
	for _, j := range foreign {
		names = append(names, j.Name)
	}
	slices.Sort(names)
	return &policy.Note{
		Reason: BudgetsOverlap,
		Message: fmt.Sprintf("budgets %s select the same member: every eviction of it fails with an internal error and drains stop; keep one of them",
			strings.Join(names, " and ")),
	}
}

// selects counts the members that a budget selects.
func (w *workload) selects(pdb *policyv1.PodDisruptionBudget) int {
	selector := budgetSelector(pdb)
	n := 0
	for _, set := range w.memberLabels() {
		if selector.Matches(set) {
			n++
		}
	}
	return n
}

// SelectsOrphan says whether a budget selects a pod that runs etcd, is not ending, and
// belongs to nobody.
func (r *Reader) SelectsOrphan(ctx context.Context, pdb *policyv1.PodDisruptionBudget) (bool, error) {
	pods, err := podsOfBudget(ctx, r.Reader, pdb)
	if err != nil {
		return false, err
	}
	for i := range pods {
		if pods[i].DeletionTimestamp != nil || !etcdconf.RunsEtcd(&pods[i].Spec) {
			continue
		}
		if _, owned, err := r.OwnerOfPod(ctx, &pods[i]); err != nil || !owned {
			return err == nil, err
		}
	}
	return false, nil
}

// podsOfBudget are the pods that a budget selects. They are the cache's own.
func podsOfBudget(ctx context.Context, from client.Reader, pdb *policyv1.PodDisruptionBudget) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := from.List(ctx, &pods, client.InNamespace(pdb.Namespace), client.MatchingLabelsSelector{Selector: budgetSelector(pdb)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list pods of budget %s/%s: %w", pdb.Namespace, pdb.Name, err)
	}
	return pods.Items, nil
}

// budgetSelector is what the eviction API makes of a budget's selector: empty
// selects all pods of the namespace (it selected none before policy/v1), nil
// and invalid none.
func budgetSelector(pdb *policyv1.PodDisruptionBudget) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}
