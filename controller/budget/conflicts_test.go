// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

func TestBudgetBacksOffAfterConflicts(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.expect("etcd maxUnavailable=1 AllReady")
	reset := func() {
		change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(2)) })
	}
	for range maxConflicts {
		s.advance(time.Second)
		reset()
		s.expect("etcd maxUnavailable=1 AllReady")
	}
	reset()
	s.expect("etcd maxUnavailable=2 AllReady")
	if _, result := s.reconcile(); result.RequeueAfter <= 0 || result.RequeueAfter > conflictWindow {
		t.Errorf("reconciles again after %s, want the end of the backoff", result.RequeueAfter)
	}
	if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasons.BudgetWrittenBack.Name() {
		t.Errorf("found %+v", f)
	}
	s.advance(conflictWindow + time.Second)
	s.expect("etcd maxUnavailable=1 AllReady")
}

// TestFlappingMemberKeepsBackoff checks that a member that becomes ready and unready again makes no further write of a
// budget that another client resets.
func TestFlappingMemberKeepsBackoff(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.reconcile()
	reset := func() {
		change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(2)) })
	}
	for range maxConflicts {
		reset()
		s.reconcile()
	}
	reset()
	setReady(s, "etcd-0", corev1.ConditionFalse)
	s.expect("etcd maxUnavailable=1 MemberDown")
	reset()
	for range 3 {
		s.advance(time.Second)
		setReady(s, "etcd-0", corev1.ConditionTrue)
		s.expect("etcd maxUnavailable=2 MemberDown")
		setReady(s, "etcd-0", corev1.ConditionFalse)
		s.expect("etcd maxUnavailable=2 MemberDown")
	}
	s.advance(conflictWindow)
	s.expect("etcd maxUnavailable=1 MemberDown")
}
