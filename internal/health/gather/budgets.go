// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
)

// budgets finds the disruption budgets whose selector matches a member, or the pod that is
// created next.
func (g *gatherer) budgets(ctx context.Context) {
	denied := g.refusal("poddisruptionbudgets.policy")
	budgets, err := g.Reader.Budgets(ctx, g.Owner)
	g.Budgets = got(budgets, cmp.Or(err, denied))
	if g.Selecting.Err = denied; denied != nil {
		return
	}
	var all policyv1.PodDisruptionBudgetList
	if err := g.Reader.List(ctx, &all, client.InNamespace(g.Owner.Namespace)); err != nil {
		g.Selecting.Err = err
		return
	}
	pods, err := g.Reader.MemberPods(ctx, g.Owner)
	if err = cmp.Or(err, g.refusal("pods")); err != nil {
		g.Selecting.Err = err
		return
	}
	if pod, found, err := scheduling.MemberPod(ctx, g.Reader, g.Owner); len(pods) == 0 && err == nil && found {
		pods = append(pods, pod)
	}
	for _, b := range all.Items {
		if slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return health.Selects(&b, p) }) {
			g.Selecting.Value = append(g.Selecting.Value, b)
		}
	}
	g.selectsOthers(ctx, pods)
}

// selectsOthers finds the budgets of the members that also select other pods.
func (g *gatherer) selectsOthers(ctx context.Context, members []*corev1.Pod) {
	if len(g.Selecting.Value) == 0 {
		return
	}
	var around corev1.PodList
	if err := g.Reader.List(ctx, &around, client.InNamespace(g.Owner.Namespace)); err != nil {
		g.Selecting.Err = err
		return
	}
	for _, b := range g.Selecting.Value {
		if slices.ContainsFunc(around.Items, func(p corev1.Pod) bool { return health.Selects(&b, &p) && health.PodNamed(members, p.Name) == nil }) {
			g.CoversOthers = append(g.CoversOthers, b.Name)
		}
	}
}
