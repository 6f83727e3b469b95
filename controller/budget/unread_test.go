// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"errors"
	"strconv"
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
// becomes stricter when the facts get worse, also if the number that is due stays the same.
func TestConflictStillTightens(t *testing.T) {
	t.Parallel()
	down := func(pods ...string) func(*stage) {
		return func(s *stage) {
			for _, pod := range pods {
				setReady(s, pod, corev1.ConditionFalse)
			}
		}
	}
	backupsFail := func(s *stage) {
		change(s, "etcd", func(o *appsv1.StatefulSet) {
			o.Annotations = map[string]string{v1alpha1.BackupLeaseAnnotation: "etcd-backup", v1alpha1.BackupMaxAgeAnnotation: "6h"}
		})
	}
	hangs := func(s *stage) {
		s.weakProbes()
		s.budget.Health = answers{"etcd-0": {Known: true}, "etcd-1": well, "etcd-2": well}
	}
	for _, row := range []struct {
		name    string
		members int
		// before is what is wrong before the resets, and wrong what is wrong after them.
		before, wrong func(*stage)
		// resetTo is the maxUnavailable of the other client.
		resetTo                   int
		corrected, left, tightens string
	}{
		{"a greater number is due", 3, down(), down("etcd-0", "etcd-1"), 2,
			"maxUnavailable=1 AllReady", "maxUnavailable=2 AllReady", "maxUnavailable=0 QuorumAtRisk"},
		{"the same number is due, since a member is down", 3, down(), down("etcd-0"), 2,
			"maxUnavailable=1 AllReady", "maxUnavailable=2 AllReady", "maxUnavailable=1 MemberDown"},
		{"a smaller number is due, since another member is down", 5, down("etcd-0"), down("etcd-1"), 4,
			"maxUnavailable=1 MemberDown", "maxUnavailable=4 MemberDown", "maxUnavailable=2 MemberDown"},
		{"no eviction is due, for another reason", 3, backupsFail, hangs, 1,
			"maxUnavailable=0 BackupFailing", "maxUnavailable=1 BackupFailing", "maxUnavailable=0 MemberNotReady"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {askMembers: true}}")
			scale(s, row.members)
			row.before(s)
			reset := func() {
				change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(row.resetTo)) })
			}
			s.reconcile()
			for range maxConflicts {
				s.advance(time.Second)
				reset()
				s.expect("etcd " + row.corrected)
			}
			reset()
			s.expect("etcd " + row.left)
			row.wrong(s)
			s.expect("etcd " + row.tightens)
			reset()
			_, reason, _ := strings.Cut(row.tightens, " ")
			s.expect("etcd maxUnavailable=" + strconv.Itoa(row.resetTo) + " " + reason)
		})
	}
}
