// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	policyv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

func describeSpread(f *health.Facts) v1alpha1.SpreadStatus {
	s := f.Standing.Value
	out := v1alpha1.SpreadStatus{Kept: string(s.Kept), Reason: s.Reason.Name(), Message: s.Message}
	if Missing(f.Unseen, "nodes") {
		out = v1alpha1.SpreadStatus{Kept: string(policy.Unknown), Reason: reasons.NodesUnseen.Name(), Message: "you may not list nodes, so their zones are not known"}
	}
	match := f.Policy.Value
	switch p := match.Policy; {
	case match.OptedOut:
		out.Wanted = "the cluster has opted out of every policy"
	case match.Separate != "":
		out.Wanted = "policy " + match.Separate + " does not apply, because each pod is an etcd of its own and lists only itself"
	case match.Unrecognised != "":
		out.Wanted = "policy " + match.Unrecognised + " does not apply, because etcd-webhook does not recognise the cluster"
	case len(match.Conflict) > 0:
		out.Wanted = "none applies: policies " + strings.Join(match.Conflict, " and ") + " have the same priority"
	case p != nil:
		out.Policy, out.Mode = p.Name, string(p.Spec.Mode)
		if p.Spec.Mode != policyv1alpha1.ModeOff {
			out.Wanted = wanted(f)
		}
	}
	return out
}

// wanted describes where admission lets new members go, and what it leaves to their own terms.
func wanted(f *health.Facts) string {
	if f.StaticPods() {
		return "static pods stay on their nodes, and admission adds nothing to them"
	}
	if f.WithoutTerms() {
		return "admission adds nothing to pods without a StatefulSet or an operator"
	}
	own := slices.ContainsFunc(f.Spread.Notes, func(n policy.Note) bool { return n.Reason == spread.OwnTerm })
	switch {
	case own && len(f.Spread.Terms) == 0:
		return "new members go where the pods' own terms allow"
	case own:
		return "new members go to " + terms.Describe(f.Spread.Terms) + ", beside the pods' own terms"
	}
	return "new members go to " + terms.Describe(f.Spread.Terms)
}

// describeBudget returns what protects the members from eviction, and why it has its value:
// as recorded by the controller that set it, and by the rule now.
func describeBudget(f *health.Facts) v1alpha1.BudgetStatus {
	if Missing(f.Unseen, "poddisruptionbudgets.policy") {
		return v1alpha1.BudgetStatus{Reason: reasons.BudgetsUnseen.Name(), Message: "you may not list disruption budgets, so it is not known whether one protects the members"}
	}
	facts := f.Cluster.Value
	if p := facts.Budgets.Problem; p != nil {
		return v1alpha1.BudgetStatus{Reason: p.Reason.Name(), Message: p.Message}
	}
	b := facts.Budgets.Managed
	if b == nil {
		return v1alpha1.BudgetStatus{}
	}
	out := v1alpha1.BudgetStatus{
		Name: b.Name, Value: b.Value.String(), MinAvailable: b.Value.Min(facts.Replicas),
		Allowed: b.Status.DisruptionsAllowed, Kept: b.Record.For != "", Reason: b.Record.Reason,
	}
	applied := f.Policy.Value.Policy
	if applied == nil {
		applied = &policyv1alpha1.EtcdTopologyPolicy{}
	}
	rule := budget.Evaluate(budget.Facts{
		Cluster: facts.Cluster, Current: out.MinAvailable, State: b.Record.State, Now: facts.At,
	}, topologypolicy.BudgetSettings(applied))
	_, rest, _ := strings.Cut(rule.Message, ": ")
	switch {
	case !out.Kept:
		out.Message = "set by its author, no policy keeps it"
	case rule.Reason.Name() == out.Reason:
		out.Message = rest
	default:
		out.Message = reasonDoc(out.Reason)
	}
	if q := f.Quorum(); q.FromEtcd && q.Voters > 1 && q.Slack == 0 && out.Allowed > 0 {
		out.Message += fmt.Sprintf("; but in etcd %d of %d voters are healthy and quorum is %d: evict no healthy member", q.Healthy, q.Voters, q.Needed)
	}
	return out
}

// reasonDoc returns what a reason means, and "" for a name that this version doesn't declare.
func reasonDoc(name string) string {
	reason, _ := reasons.Find(name)
	return strings.TrimSuffix(reason.Doc(), ".")
}

// describeEvents returns the last warnings about the owner, the workload, the pods, their
// claims and the budget, the last one first.
func describeEvents(f *health.Facts) []v1alpha1.WarningEvent {
	var out []v1alpha1.WarningEvent
	for i := range f.Events.Value {
		e := &f.Events.Value[i]
		if !concerns(f, e.InvolvedObject) {
			continue
		}
		last, count := format.EventTime(e)
		out = append(out, v1alpha1.WarningEvent{
			Last: metav1.NewTime(last), Count: count, Reason: e.Reason, Message: format.OneLine(e.Message),
			Object: strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name,
		})
	}
	slices.SortStableFunc(out, func(a, b v1alpha1.WarningEvent) int {
		return cmp.Or(b.Last.Compare(a.Last.Time), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
	})
	return out[:min(len(out), format.EventsShown)]
}

// concerns reports whether an object belongs to the cluster.
func concerns(f *health.Facts, o corev1.ObjectReference) bool {
	switch o.Kind {
	case f.Owner.Kind:
		return o.Name == f.Owner.Name
	case "StatefulSet":
		return o.Name == f.Owner.StatefulSet
	case "Pod":
		return health.PodNamed(f.Pods.Value, o.Name) != nil || f.Owner.Ordinal(o.Name) >= 0
	case "PersistentVolumeClaim":
		return slices.ContainsFunc(f.Owner.Claims, func(c owner.Claim) bool {
			pod, ok := strings.CutPrefix(o.Name, c.Template+"-")
			return ok && f.Owner.Ordinal(pod) >= 0
		})
	case "PodDisruptionBudget":
		b := f.Cluster.Value.Budgets.Managed
		return b != nil && b.Name == o.Name
	}
	return false
}
