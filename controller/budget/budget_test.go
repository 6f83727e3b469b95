// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

func TestBudgetAdoptsAuthorsField(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.expect("etcd maxUnavailable=1 AllReady")
	if s.Writes != 1 {
		t.Errorf("%d writes, want the record alone", s.Writes)
	}
	s.restart()
	s.expect("etcd maxUnavailable=1 AllReady")
	if s.Writes != 1 {
		t.Error("wrote after a restart although nothing had changed")
	}
}

func TestBudgetHoldsForBackupsAndEndsIt(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {backupHoldLimit: 30m, settle: 60s}}")
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		o.Annotations = map[string]string{v1alpha1.BackupLeaseAnnotation: "etcd-backup", v1alpha1.BackupMaxAgeAnnotation: "6h"}
	})
	s.expect("etcd maxUnavailable=0 BackupFailing")
	s.advance(29 * time.Minute)
	s.expect("etcd maxUnavailable=0 BackupFailing")
	s.restart() // the start of the hold is recorded on the budget
	s.advance(2 * time.Minute)
	s.expect("etcd maxUnavailable=1 BackupFailingTooLong")
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !strings.Contains(got, "BackupFailingTooLong") {
		t.Errorf("no Event that the limit passed: %q", got)
	}
	change(s, "etcd-backup", func(l *coordinationv1.Lease) { l.Spec.RenewTime.Time = s.clock.Now() })
	s.reconcile() // backups are healthy, the hold is still recorded
	if got := controllertest.Recorded(t, s.events); len(got) > 0 {
		t.Errorf("recorded after the recovery: %q", got)
	}
	s.advance(61 * time.Second)
	s.expect("etcd maxUnavailable=1 AllReady")
}

func TestBudgetLoosensAfterSettle(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {settle: 60s}}")
	setReady(s, "etcd-0", corev1.ConditionFalse)
	setReady(s, "etcd-1", corev1.ConditionFalse)
	s.expect("etcd maxUnavailable=0 QuorumAtRisk")
	setReady(s, "etcd-0", corev1.ConditionTrue)
	setReady(s, "etcd-1", corev1.ConditionTrue)
	s.expect("etcd maxUnavailable=0 QuorumAtRisk")
	s.advance(59 * time.Second)
	s.restart()
	s.expect("etcd maxUnavailable=0 QuorumAtRisk")
	s.advance(2 * time.Second)
	s.expect("etcd maxUnavailable=1 AllReady")
}

// TestAuthorsNumberIsFloor checks that an adopted budget is never looser than its author
// wrote it, in either field, as a percentage, and for one member.
func TestAuthorsNumberIsFloor(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		size                        int
		spec, well, down, rewritten string
	}{
		{3, "minAvailable: 3", "minAvailable=3 AllReady", "minAvailable=3 MemberDown", "minAvailable=2 AllReady"},
		{3, "minAvailable: 1", "minAvailable=2 AllReady", "minAvailable=2 MemberDown", "minAvailable=2 AllReady"},
		{5, "maxUnavailable: 1", "maxUnavailable=1 AllReady", "maxUnavailable=1 MemberDown", "minAvailable=3 AllReady"},
		{5, "minAvailable: 80%", "minAvailable=4 AllReady", "minAvailable=4 MemberDown", "minAvailable=3 AllReady"},
		{1, "minAvailable: 1", "minAvailable=1 SingleMember", "minAvailable=1 SingleMember", "minAvailable=0 SingleMember"},
	} {
		t.Run(fmt.Sprint(row.size, " ", row.spec), func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {settle: 1s}}")
			removeBudget(s, "etcd")
			scale(s, row.size)
			foreign(s, "theirs", row.spec+", selector: {"+byApp+"}")
			pass := func(want string) {
				t.Helper()
				s.reconcile()
				s.advance(time.Hour)
				s.expect("theirs " + want)
			}
			pass(row.well)
			setReady(s, "etcd-0", corev1.ConditionFalse)
			pass(row.down)
			setReady(s, "etcd-0", corev1.ConditionTrue)
			pass(row.well)
			// To make it looser, the author changes the budget.
			change(s, "theirs", func(p *policyv1.PodDisruptionBudget) {
				p.Spec.MinAvailable, p.Spec.MaxUnavailable = new(intstr.FromInt(0)), nil
			})
			pass(row.rewritten)
		})
	}
}

func TestBudgetDoesNotLoosenUnconfirmed(t *testing.T) {
	t.Parallel()
	s := druid(t, "{disruption: {settle: 5s}}")
	change(s, "main", func(p *policyv1.PodDisruptionBudget) {
		p.Spec.MinAvailable = new(intstr.FromInt(3))
		p.Annotations = map[string]string{
			v1alpha1.BudgetForAnnotation: "Etcd/main", v1alpha1.BudgetReasonAnnotation: "MemberNotReady",
			v1alpha1.BudgetValueAnnotation: "minAvailable=3", v1alpha1.BudgetOriginalAnnotation: "minAvailable=2",
		}
	})
	s.reconcile() // records the size
	if wrote, result := s.reconcile(); wrote != 0 || result.RequeueAfter == 0 {
		t.Errorf("wrote %d times on unconfirmed leases, requeued after %s", wrote, result.RequeueAfter)
	}
	s.expect("main minAvailable=3 MemberNotReady")
	renew(s)
	s.expect("main minAvailable=3 MemberNotReady")
	s.advance(6 * time.Second)
	s.expect("main minAvailable=2 AllReady")
}

// renew advances the clock by ten seconds and renews every member's lease.
func renew(s *stage) {
	s.advance(10 * time.Second)
	for _, o := range s.Objects {
		if lease, ok := o.(*coordinationv1.Lease); ok {
			lease.Spec.RenewTime.Time = lease.Spec.RenewTime.Add(10 * time.Second)
			s.leases.Observe(lease)
		}
	}
}

func TestBudgetFollowsAgingLease(t *testing.T) {
	t.Parallel()
	s := druid(t, "{}")
	s.reconcile()
	renew(s)
	s.expect("main minAvailable=2 AllReady")
	_, result := s.reconcile()
	if result.RequeueAfter <= 0 || result.RequeueAfter > 31*time.Second {
		t.Errorf("reconciles again after %s, want the first lease's end", result.RequeueAfter)
	}
	s.advance(result.RequeueAfter)
	s.expect("main minAvailable=3 QuorumAtRisk")
}

// TestBudgetSelectsOtherPods checks that maxUnavailable is counted from the pods that
// Kubernetes expects. Pods without a controller are not expected.
func TestBudgetSelectsOtherPods(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		expected  int32 // pods, by the disruption controller
		want      string
		uncounted bool
	}{
		{"pods of a Deployment", 5, "etcd maxUnavailable=1 AllReady", false},
		{"pods without a controller", 3, "etcd maxUnavailable=0 AllReady", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{}")
			for _, name := range []string{"a", "b"} {
				s.Put(&corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "store", UID: types.UID(name), Labels: map[string]string{"app": "etcd"}},
					Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
				})
			}
			change(s, "etcd", func(p *policyv1.PodDisruptionBudget) {
				p.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: row.expected, CurrentHealthy: 5}
			})
			s.expect(row.want)
			f, _ := s.budget.Findings.Get(s.key)
			if uncounted := f.Verdict == v1alpha1.Broken && f.Reason == reasons.BudgetUncounted.Name(); uncounted != row.uncounted {
				t.Errorf("found %+v", f)
			}
		})
	}
}

// removeBudget removes a budget and returns it.
func removeBudget(s *stage, name string) client.Object {
	s.t.Helper()
	for i, o := range s.Objects {
		if _, ok := o.(*policyv1.PodDisruptionBudget); ok && o.GetName() == name {
			s.Objects = slices.Delete(s.Objects, i, i+1)
			return o
		}
	}
	s.t.Fatalf("there is no budget %s", name)
	return nil
}

func TestBudgetWriteDenied(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.Refuse = apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), "etcd", errors.New("changes are disallowed at the moment"))
	var waits []time.Duration
	for range 6 {
		_, result := s.reconcile()
		waits = append(waits, result.RequeueAfter/time.Second)
	}
	if want := []time.Duration{5, 10, 20, 40, 80, 80}; !slices.Equal(waits, want) {
		t.Errorf("retried after %d seconds, want %d", waits, want)
	}
	got := controllertest.Recorded(t, s.events)
	if len(got) != 2 || !strings.Contains(got[0], reasons.BudgetWriteDenied.Name()) || !strings.Contains(got[0], "disallowed at the moment") {
		t.Errorf("recorded %q, want one Event with the denial on the budget and one on the owner", got)
	}
	if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasons.BudgetWriteDenied.Name() {
		t.Errorf("found %+v", f)
	}
	s.Refuse = nil
	s.expect("etcd maxUnavailable=1 AllReady")
	if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Kept {
		t.Errorf("found %+v after the write was accepted", f)
	}
	s.Refuse = apierrors.NewConflict(policyv1.Resource("poddisruptionbudgets"), "etcd", errors.New("changed"))
	change(s, "etcd-1", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	if _, result := s.reconcile(); result.RequeueAfter == 0 || result.RequeueAfter > 2*time.Second {
		t.Errorf("after a conflict: requeued after %s", result.RequeueAfter)
	}
}

func TestBudgetWarns(t *testing.T) {
	t.Parallel()
	s := plain(t, "{mode: Warn}")
	change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(3)) })
	s.expect("etcd maxUnavailable=3 -")
	if s.Writes != 0 {
		t.Errorf("wrote %d times in mode Warn", s.Writes)
	}
	if got := controllertest.Recorded(t, s.events); len(got) != 1 || !strings.Contains(got[0], "would be kept at maxUnavailable=1, not maxUnavailable=3") {
		t.Errorf("recorded %q", got)
	}
}

func TestBudgetWithoutPolicyIsNotTouched(t *testing.T) {
	t.Parallel()
	s := plain(t, "")
	s.expect("etcd maxUnavailable=1 -")
	if got := controllertest.Recorded(t, s.events); s.Writes != 0 || len(got) != 0 {
		t.Errorf("wrote %d times, recorded %q", s.Writes, got)
	}
}
