// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// TestGoingBudgetIsKept checks that a budget that is being deleted and has a finalizer has its number until it
// is gone: the API server admits evictions by it.
func TestGoingBudgetIsKept(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	foreign(s, "partial", "minAvailable: 0, selector: {"+byPod+"}")
	s.expect("etcd maxUnavailable=1 AllReady", "partial minAvailable=0 -")
	for _, name := range []string{"etcd", "partial"} {
		change(s, name, func(p *policyv1.PodDisruptionBudget) {
			p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: controllertest.Now}, []string{"example.com/keep"}
		})
	}
	setReady(s, "etcd-1", corev1.ConditionFalse)
	setReady(s, "etcd-2", corev1.ConditionFalse)
	s.expect("etcd maxUnavailable=0 QuorumAtRisk", "partial minAvailable=1 QuorumAtRisk")
	setReady(s, "etcd-1", corev1.ConditionTrue)
	setReady(s, "etcd-2", corev1.ConditionTrue)
	s.reconcile()
	s.advance(time.Minute)
	s.expect("etcd maxUnavailable=1 AllReady", "partial minAvailable=0 -")
}
