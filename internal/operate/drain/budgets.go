// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// budgetsOf returns the names of the budgets that the eviction API checks for a pod, and adds them to
// the facts.
func (o *observation) budgetsOf(pod *corev1.Pod) []string {
	var names []string
	for i := range o.budgets {
		b := &o.budgets[i]
		if podstate.OutsideBudgets(pod) || !selects(b, pod) {
			continue
		}
		names = append(names, b.Name)
		if !slices.ContainsFunc(o.Facts.Budgets, func(have drain.Budget) bool { return have.Namespace == b.Namespace && have.Name == b.Name }) {
			o.Facts.Budgets = append(o.Facts.Budgets, budgetFacts(b))
		}
	}
	return names
}

func selects(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels))
}

// budgetFacts reads a budget as the eviction API does (Kubernetes, pkg/registry/core/pod/storage/eviction.go).
func budgetFacts(b *policyv1.PodDisruptionBudget) drain.Budget {
	text := ""
	if v := b.Spec.MinAvailable; v != nil {
		text = "minAvailable=" + v.String()
	}
	if v := b.Spec.MaxUnavailable; v != nil {
		text = "maxUnavailable=" + v.String()
	}
	s, unhealthy := b.Status, b.Spec.UnhealthyPodEvictionPolicy
	return drain.Budget{
		Namespace: b.Namespace, Name: b.Name, Text: text,
		Allowed: int(s.DisruptionsAllowed), Behind: s.ObservedGeneration < b.Generation,
		UnreadyGo: unhealthy != nil && *unhealthy == policyv1.AlwaysAllow || s.CurrentHealthy >= s.DesiredHealthy && s.DesiredHealthy > 0,
	}
}

// judgeOthers adds what the budgets of other pods mean for the nodes.
func (o *observation) judgeOthers() {
	for i := range o.Nodes {
		n, fails := &o.Nodes[i], &o.Facts.Nodes[i].Fails
		for k := range n.Others {
			pod := &n.Others[k]
			var of []drain.Budget
			for b := range o.budgets {
				if !podstate.OutsideBudgets(pod) && selects(&o.budgets[b], pod) {
					of = append(of, budgetFacts(&o.budgets[b]))
				}
			}
			switch {
			case len(of) > 1:
				*fails = append(*fails, fmt.Sprintf("budgets %s and %s select pod %s/%s: every eviction of it fails", of[0].Name, of[1].Name, pod.Namespace, pod.Name))
			case len(of) == 1 && of[0].Allowed <= 0 && (podstate.Ready(pod) || !of[0].UnreadyGo):
				n.Waits = append(n.Waits, fmt.Sprintf("budget %s/%s (%s) allows no eviction of pod %s now, and the drain waits for it", pod.Namespace, of[0].Name, of[0].Text, pod.Name))
			}
		}
	}
}
