// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// unreadable fails the reads of Leases and of nodes by name.
type unreadable struct{ client.Reader }

func (u unreadable) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	switch obj.(type) {
	case *coordinationv1.Lease, *corev1.Node:
		return errors.New("the API server does not answer")
	}
	return u.Reader.Get(ctx, key, obj, opts...)
}

// TestUnreadableFactsStopNothing checks that a budget follows the facts that are known, while
// the Lease of the backups and the nodes can't be read.
func TestUnreadableFactsStopNothing(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		o.Annotations = map[string]string{v1alpha1.BackupLeaseAnnotation: "etcd-backup", v1alpha1.BackupMaxAgeAnnotation: "6h"}
	})
	s.budget.Reader.Reader = unreadable{s.Store}
	s.expect("etcd maxUnavailable=1 AllReady")
	setReady(s, "etcd-0", corev1.ConditionFalse)
	setReady(s, "etcd-1", corev1.ConditionFalse)
	s.expect("etcd maxUnavailable=0 QuorumAtRisk")
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !strings.Contains(got, "BackupLeaseUnreadable") {
		t.Errorf("recorded %q", got)
	}
}

// TestTighteningIsRetriedSoon checks that a refused write that makes the budget stricter is
// retried within seconds, however often it was refused.
func TestTighteningIsRetriedSoon(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.reconcile()
	setReady(s, "etcd-0", corev1.ConditionFalse)
	setReady(s, "etcd-1", corev1.ConditionFalse)
	s.Refuse = apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), "etcd", errors.New("denied"))
	for range 10 {
		if _, result := s.reconcile(); result.RequeueAfter <= 0 || result.RequeueAfter > 5*time.Second {
			t.Fatalf("retried after %s", result.RequeueAfter)
		}
	}
}

// TestConflictStillTightens checks that a budget that another client resets again and again
// becomes stricter when the facts get worse.
func TestConflictStillTightens(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	reset := func() {
		change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(2)) })
	}
	s.reconcile()
	for range maxConflicts {
		s.advance(time.Second)
		reset()
		s.expect("etcd maxUnavailable=1 AllReady")
	}
	reset()
	s.expect("etcd maxUnavailable=2 AllReady")
	setReady(s, "etcd-0", corev1.ConditionFalse)
	setReady(s, "etcd-1", corev1.ConditionFalse)
	s.expect("etcd maxUnavailable=0 QuorumAtRisk")
	reset()
	s.expect("etcd maxUnavailable=2 QuorumAtRisk")
}
