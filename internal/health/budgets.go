// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func budgetChecks() []Check {
	return []Check{
		{
			ID: "B001", Category: Budgets, Title: "a disruption budget selects the members",
			Doc:  "Without a PodDisruptionBudget, a node drain evicts every member on the node, and two drains at once cost quorum.",
			Cure: "Create one, or let an EtcdTopologyPolicy with disruption.createMissing create it.",
			run:  budgetExists, needs: NeedMembers,
		},
		{
			ID: "B002", Category: Budgets, Title: "no pod is selected by two budgets",
			Doc:  "If two budgets select a pod, the eviction API answers 500 for this pod, whatever the values of the budgets. Every drain of its node stops.",
			Cure: "Keep the one that selects most members. Of two that select the same, keep the budget of the operator or of the chart, because they create it again. Never delete a budget that alone protects a member or other pods: narrow its selector.",
			run:  budgetAlone,
		},
		{
			ID: "B003", Category: Budgets, Title: "the budget keeps a quorum",
			Doc:  "The check compares the number of pods that the budget keeps with the quorum of the voters in etcd's list, also of those whose pods are gone. A Ready pod that runs no voter, such as a learner, must stay in addition. If the list is not known, the largest size that is known counts. If the budget keeps fewer, evictions alone may stop all writes.",
			Cure: "Set minAvailable to the quorum, or maxUnavailable to the number of the other members. An EtcdTopologyPolicy corrects the value when members are added or removed.",
			run:  budgetKeepsQuorum, needs: NeedMembers,
		},
		{
			ID: "B004", Category: Budgets, Title: "the budget has one integer value and selects only the members",
			Doc:  "Kubernetes takes a percentage of the StatefulSet's replicas and rounds it up. The result is the quorum of some sizes only. If a policy in mode Enforce governs the cluster, etcd-webhook writes the number in place of the percentage. With AlwaysAllow, an unready member is evicted at once although it may still vote. A selector that is too wide or too narrow counts the wrong pods.",
			Cure: "Use an integer, leave unhealthyPodEvictionPolicy at IfHealthyBudget, and select only the members.",
			run:  budgetForm, needs: NeedMembers,
		},
		{
			ID: "B005", Category: Budgets, Title: "the budget allows an eviction while all members are healthy",
			Doc:  "If a budget never allows a disruption, every drain of the members' nodes waits until it is forced. The check judges no budget while a voter has no pod or is not healthy, because then each pod may be needed. A budget that etcd-webhook keeps also counts members that were removed from etcd by an operator, a script or a user.",
			Cure: "If etcd has fewer voters than the budget counts, declare their number: the finding has the command. Otherwise, set minAvailable to the quorum. No budget can keep a single member available, so leave its minAvailable at 0.",
			run:  budgetAllows, needs: NeedMembers,
		},
	}
}

// selecting guards a check that judges the budgets that select members.
func (f *Facts) selecting() ([]Finding, bool) {
	switch {
	case f.Selecting.Err != nil:
		return []Finding{unknown("the disruption budgets", f.Selecting.Err)}, false
	case len(f.Selecting.Value) == 0:
		return notApplicable("no budget selects the members"), false
	}
	return nil, true
}

func budgetExists(f *Facts) []Finding {
	if f.Selecting.Err != nil {
		return []Finding{unknown("the disruption budgets", f.Selecting.Err)}
	}
	c := f.countedSurely()
	if found, more := f.mayHaveMore(); more {
		return found
	}
	switch {
	case c.single():
		return notApplicable("no budget can keep %s available", policy.Count(c.pods, "member"))
	case len(f.Selecting.Value) > 0:
		var names []string
		for _, b := range f.Selecting.Value {
			names = append(names, b.Name)
		}
		return ok("%s", policy.List(names))
	case f.StaticPods():
		return notApplicable("a drain leaves static pods where they are")
	case f.ofDaemonSet():
		return notApplicable("a drain leaves the pods of a DaemonSet where they are")
	case f.Owner.WithoutStatefulSet(): // no policy makes a budget for them
		return []Finding{warning(f.createBudget(), "no budget selects %s, and etcd-webhook creates none for pods without a StatefulSet: a drain evicts every member on its nodes", c.all())}
	}
	m := f.Policy.Value
	if m.In(v1alpha1.ModeEnforce) && m.Policy.Spec.Disruption.CreateMissing {
		return []Finding{warning(f.Command("status"), "no budget selects %s, although policy %s creates one: etcd-webhook doesn't run, or can't create it", c.all(), m.Policy.Name)}
	}
	if m.In(v1alpha1.ModeEnforce) {
		return []Finding{warning("kubectl patch etcdtopologypolicy "+m.Policy.Name+` --type=merge -p '{"spec":{"disruption":{"createMissing":true}}}'`+f.Flags,
			"no budget selects %s, and policy %s creates none: a drain evicts every member on its nodes", c.all(), m.Policy.Name)}
	}
	return []Finding{warning(f.createBudget(), "no budget selects %s: a drain evicts every member on its nodes", c.all())}
}

// ofDaemonSet reports whether all members are pods of DaemonSets.
func (f *Facts) ofDaemonSet() bool {
	return len(f.Pods.Value) > 0 && !slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool {
		ref := metav1.GetControllerOf(p)
		return ref == nil || ref.Kind != "DaemonSet"
	})
}

func (f *Facts) createBudget() string {
	if f.Owner.Product().WritesBudget {
		return f.reconcile()
	}
	s, c := f.Owner.MemberSelector, f.countedSurely()
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 || len(f.Owner.PodsBeside) > 0 {
		return fmt.Sprintf("create a PodDisruptionBudget with minAvailable %d whose selector matches %s and no other pod", c.least(), c.all())
	}
	selector := metav1.FormatLabelSelector(s)
	if len(s.MatchExpressions) > 0 { // with spaces and parentheses
		selector = "'" + selector + "'"
	}
	return f.kubectl(fmt.Sprintf("create poddisruptionbudget %s --min-available=%d --selector=%s", f.Owner.Name, c.least(), selector))
}

func budgetKeepsQuorum(f *Facts) []Finding {
	if found, any := f.selecting(); !any {
		return found
	}
	c := f.countedSurely()
	if found, more := f.mayHaveMore(); more {
		return found
	}
	if c.single() {
		return notApplicable("no budget can keep %s available", policy.Count(c.pods, "member"))
	}
	var found []Finding
	for i := range f.Selecting.Value {
		b := &f.Selecting.Value[i]
		value, spec, known := valueOf(b, c.pods)
		if !known || f.selectsOtherThanAll(b.Name) {
			continue // B004's
		}
		switch least := value.Min(c.pods); {
		case c.keeps(least):
		case c.joining(), f.operation() != "":
			found = append(found, info("", "budget %s (%s) keeps %d of %s for now: the members change", b.Name, spec, least, policy.Count(c.pods, "pod")))
		default:
			found = append(found, warning(f.raiseBudget(b, value, value.WithMin(c.least(), c.pods), c), "budget %s (%s) keeps %s%s", b.Name, spec, c.kept(least), c.quorum()))
		}
	}
	return found
}

// selectsOtherThanAll reports whether a budget selects some of the members, or those of two clusters:
// no number is right for it.
func (f *Facts) selectsOtherThanAll(name string) bool {
	return slices.ContainsFunc(f.Budgets.Value.Others, func(o observe.Other) bool { return o.Name == name && partOrShared(o.Fault) })
}

func partOrShared(n *policy.Note) bool {
	return n != nil && (n.Reason == reasons.BudgetPartial || n.Reason == reasons.BudgetShared)
}

// budgetOf returns the budget that a note is about.
func (f *Facts) budgetOf(n *policy.Note) string {
	b := f.Budgets.Value
	for _, o := range b.Others {
		if o.Fault != nil && *o.Fault == *n {
			return o.Name
		}
	}
	if b.Managed != nil && b.Outdated != nil && *b.Outdated == *n {
		return b.Managed.Name
	}
	return f.Selecting.Value[0].Name
}

// setBudget returns how a budget gets a value. An operator that writes its budget itself lets no user do it.
func (f *Facts) setBudget(b *policyv1.PodDisruptionBudget, to annotation.BudgetValue) string {
	if f.Owner.Product().WritesBudget && metav1.GetControllerOf(b) != nil {
		return f.reconcile()
	}
	return f.kubectl(fmt.Sprintf(`patch poddisruptionbudget %s --type=merge -p '{"spec":{"%s":%d}}'`, b.Name, to.Field, to.N))
}

// raiseBudget returns how a budget comes to keep the quorum. If it keeps that of the pods, and the other voters are dead,
// their removal is enough. If etcd-webhook keeps the budget by the pods, it would set another value back, so the number
// of voters is declared.
func (f *Facts) raiseBudget(b *policyv1.PodDisruptionBudget, has, to annotation.BudgetValue, c counted) string {
	if dead := f.dead(); c.gone() > 0 && len(dead) == c.gone() && has.Min(c.pods) >= policy.Quorum(c.pods) {
		return f.toRemove(dead[0])
	}
	if b.Annotations[v1alpha1.BudgetForAnnotation] != "" && f.listKnown() && c.gone() > 0 {
		return f.declare(f.voters().total)
	}
	return f.setBudget(b, to)
}

// dead returns the voters of etcd's list that no workload brings back and that may be removed.
func (f *Facts) dead() []etcd.Listed {
	var dead []etcd.Listed
	for _, l := range f.Survey.Value.List {
		if again, _ := f.stoppedAs(l); !l.Learner && f.withoutWorkload(l) && again == "" && f.removable(l) {
			dead = append(dead, l)
		}
	}
	return dead
}

// valueOf returns the value of a budget for so many members, and the text of its spec.
// Kubernetes takes a percentage of the StatefulSet's replicas and rounds up, whichever
// field it is in (pkg/controller/disruption/disruption.go, getExpectedPodCount). False
// where the spec has no value for this cluster's members.
func valueOf(b *policyv1.PodDisruptionBudget, members int) (value annotation.BudgetValue, spec string, known bool) {
	if p := annotation.Fault(b); p != nil && p.Reason != reasons.BudgetPercentage && p.Reason != reasons.BudgetAlwaysAllow {
		return value, "", false
	}
	field, n := annotation.MinAvailable, b.Spec.MinAvailable
	if b.Spec.MaxUnavailable != nil {
		field, n = annotation.MaxUnavailable, b.Spec.MaxUnavailable
	}
	count, err := intstr.GetScaledValueFromIntOrPercent(n, members, true)
	return annotation.BudgetValue{Field: field, N: count}, fmt.Sprintf("%s=%s", field, n), err == nil
}
