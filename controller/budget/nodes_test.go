// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestLostNode: the budget allows no eviction while a member is on a node that is lost, although its pod is Ready, and
// evictions again when the node is back.
func TestLostNode(t *testing.T) {
	t.Parallel()
	for _, of := range []func(*testing.T) *stage{
		func(t *testing.T) *stage { t.Helper(); return druid(t, "{}") },
		plainCreated,
	} {
		s := of(t)
		s.reconcile()
		whole := s.budgets()
		var pods corev1.PodList
		if err := s.List(t.Context(), &pods); err != nil {
			t.Fatal(err)
		}
		node := *find[*corev1.Node](s, pods.Items[0].Spec.NodeName)
		drop := func() {
			s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { _, is := o.(*corev1.Node); return is && o.GetName() == node.Name })
			s.restart()
		}
		drop()
		s.reconcile()
		gone := s.budgets()
		drop()
		unready := node.DeepCopy()
		unready.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		s.Objects = append(s.Objects, unready)
		s.restart()
		s.reconcile()
		cutOff := s.budgets()
		if slices.Equal(gone, whole) || !slices.Equal(gone, cutOff) {
			t.Errorf("before %q, without the node %q, with a node that is not Ready %q", whole, gone, cutOff)
		}
	}
}
