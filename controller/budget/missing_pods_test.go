// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// removePod removes a pod that its StatefulSet can't create again, as with a quota.
func removePod(s *stage, name string) {
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		_, is := o.(*corev1.Pod)
		return is && o.GetName() == name
	})
}

// TestPartialBudgetBesideMissingPods checks that a foreign budget over some members takes ours away at no time,
// also while it selects all pods that exist.
func TestPartialBudgetBesideMissingPods(t *testing.T) {
	t.Parallel()
	const first = "minAvailable: 0, selector: {" + byPod + "}"
	const firstTwo = "minAvailable: 0, selector: {matchExpressions: [{key: statefulset.kubernetes.io/pod-name, operator: In, values: [etcd-0, etcd-1]}]}"
	scales := func(through ...int) func(*stage) {
		return func(s *stage) {
			for _, n := range through {
				scale(s, n)
				s.reconcile()
				s.advance(time.Hour)
				s.reconcile()
			}
		}
	}
	for name, row := range map[string]struct {
		spec string
		do   func(*stage)
	}{
		"scaled to 0 and back":             {first, scales(0, 3)},
		"scaled to 0, to 1, and back":      {first, scales(0, 1, 3)},
		"scaled in and out again":          {firstTwo, scales(2, 3)},
		"scaled to 0, after a restart":     {first, func(s *stage) { s.restart(); scales(0, 3)(s) }},
		"the pod of the other one is gone": {firstTwo, func(s *stage) { removePod(s, "etcd-2"); s.reconcile(); scales(3)(s) }},
		"the pods of all others are gone":  {first, func(s *stage) { removePod(s, "etcd-1"); removePod(s, "etcd-2"); s.reconcile(); scales(3)(s) }},
		"all pods are gone":                {first, func(s *stage) { scales(3)(s); removeAllPods(s); s.reconcile(); scales(3)(s) }},
		"ours selects a pod that is gone": {first, func(s *stage) {
			scales(1)(s)
			change(s, "etcd-quorum", func(p *policyv1.PodDisruptionBudget) {
				p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{appsv1.StatefulSetPodNameLabel: "etcd-1"}}
			})
			s.reconcile()
			scales(3)(s)
		}},
		"another one over the same is made": {first, func(s *stage) { foreign(s, "more", first); scales(0, 3)(s); removeBudget(s, "more"); s.reconcile() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plainCreated(t)
			foreign(s, "theirs", row.spec)
			s.reconcile()
			row.do(s)
			s.advance(time.Hour)
			if s.reconcile(); !slices.ContainsFunc(s.budgets(), func(b string) bool { return b == "etcd-quorum minAvailable=2 AllReady" }) {
				t.Errorf("budgets are %q", s.budgets())
			}
		})
	}
}

func removeAllPods(s *stage) {
	for _, name := range []string{"etcd-0", "etcd-1", "etcd-2"} {
		removePod(s, name)
	}
}

// TestWholeBudgetBesideMissingPods checks that a foreign budget that selects the members by the labels of the
// template replaces ours, whatever pods exist.
func TestWholeBudgetBesideMissingPods(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	removePod(s, "etcd-1")
	foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}")
	s.expect("theirs minAvailable=2 MemberDown")
}
