// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strconv"
	"strings"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func budgetForm(f *Facts) []Finding {
	if found, any := f.selecting(); !any {
		return found
	}
	var found []Finding
	for i := range f.Selecting.Value {
		found = append(found, f.formOf(&f.Selecting.Value[i])...)
	}
	notes := slices.Clone(f.Budgets.Value.Notes)
	if p := f.Budgets.Value.Problem; p != nil {
		notes = append(notes, *p)
	}
	for i := range notes {
		if p := &notes[i]; partOrShared(p) {
			found = append(found, budgetProblem(f.kubectl("edit poddisruptionbudget "+f.budgetOf(p)), p))
		}
	}
	if f.Budgets.Err != nil {
		found = append(found, unknown("what else the budget selects", f.Budgets.Err))
	}
	return found
}

// formOf judges the form of one budget.
func (f *Facts) formOf(b *policyv1.PodDisruptionBudget) []Finding {
	value, unreadable := annotation.ValueOf(b.Name, &b.Spec)
	problem := annotation.Fault(b)
	if problem == nil && !value.Percent {
		return nil
	}
	fix := f.kubectl("edit poddisruptionbudget " + b.Name)
	switch {
	case problem == nil || problem.Reason != reasons.BudgetAlwaysAllow:
	case f.Owner.Product().AlwaysAllowBy != "": // the operator writes its budget back
		fix = f.annotate(f.Owner.Product().AlwaysAllowBy + "-")
	default:
		fix = f.kubectl("patch poddisruptionbudget " + b.Name + ` --type=merge -p '{"spec":{"unhealthyPodEvictionPolicy":null}}'`)
	}
	var found []Finding
	if unreadable == nil && value.Percent || problem.Reason == reasons.BudgetPercentage {
		found = append(found, f.percentage(b, fix))
	}
	if problem != nil && problem.Reason != reasons.BudgetPercentage {
		found = append(found, budgetProblem(fix, problem))
	}
	return found
}

// budgetProblem returns a note about a budget, without what etcd-webhook does about it.
func budgetProblem(fix string, n *policy.Note) Finding {
	one := warning(fix, "%s", strings.NewReplacer(" is left alone: ", ": ", " can't protect the members alone: ", ": ").Replace(n.Message))
	one.Reason = n.Reason
	return one
}

// heldBudget returns the finding about a budget that etcd-webhook keeps for a reason. A kept budget that allows
// nothing while all is well is otherwise its author's wish.
func (f *Facts) heldBudget(b *policyv1.PodDisruptionBudget) (Finding, bool) {
	why := b.Annotations[v1alpha1.BudgetReasonAnnotation]
	if why == "" || why == policy.AllReady.Name() {
		return Finding{}, false
	}
	size := f.Cluster.Value.Cluster.Size
	if members := len(f.Survey.Value.List); f.Cluster.Value.Cluster.Lost > 0 && f.listKnown() && f.LastVoters == 0 && members == f.Size() && members < size {
		return warning(f.declare(members), "budget %s counts %s, the largest number that the cluster has had, and etcd lists %d: an operator, a script or a user removed the others, so every drain waits", b.Name, policy.Count(size, "voter"), members), true
	}
	return info("", "budget %s allows no eviction: %s", b.Name, why), true
}

// declare returns how to declare how many voters etcd has.
func (f *Facts) declare(voters int) string {
	return strings.TrimPrefix(f.Cluster.Value.Cluster.DeclareVoters(strconv.Itoa(voters)), "run: ") + f.Flags
}

// percentage returns the finding about a budget with a percentage, which means another number at
// every size. etcd-webhook writes the number in its place.
func (f *Facts) percentage(b *policyv1.PodDisruptionBudget, fix string) Finding {
	c := f.counted()
	value, spec, known := valueOf(b, c.pods)
	least := value.Min(c.pods)
	switch {
	case !known:
		return warning(fix, "budget %s: %s is not a percentage that Kubernetes accepts", b.Name, spec)
	case !c.keeps(least):
		return warning(fix, "budget %s: %s is a percentage and keeps %s; use an integer", b.Name, spec, c.kept(least))
	}
	return info(fix, "budget %s: %s is a percentage, which means another number at every size; it keeps %s", b.Name, spec, c.kept(least))
}
