// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

func TestBudgetAdoptsInItsAuthorsField(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.wants("etcd maxUnavailable=1 AllReady")
	if s.writes != 1 {
		t.Errorf("%d writes, want the record alone", s.writes)
	}
	s.restart()
	s.wants("etcd maxUnavailable=1 AllReady")
	if s.writes != 1 {
		t.Error("wrote after a restart although nothing had changed")
	}
}

func TestBudgetHoldsForBackupsAndEndsIt(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {backupHoldLimit: 30m, settle: 60s}}")
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		o.Annotations = map[string]string{v1alpha1.BackupLeaseAnnotation: "etcd-backup", v1alpha1.BackupMaxAgeAnnotation: "6h"}
	})
	s.wants("etcd maxUnavailable=0 BackupFailing")
	s.later(29 * time.Minute)
	s.wants("etcd maxUnavailable=0 BackupFailing")
	s.restart() // the hold's beginning stands on the budget
	s.later(2 * time.Minute)
	s.wants("etcd maxUnavailable=1 BackupFailingTooLong")
	if told := strings.Join(heard(s.said), "\n"); !strings.Contains(told, "BackupFailingTooLong") {
		t.Errorf("nobody was told that the limit passed: %q", told)
	}
	change(s, "etcd-backup", func(l *coordinationv1.Lease) { l.Spec.RenewTime.Time = s.clock.Now() })
	s.look() // backups are well, the hold is still remembered
	if told := heard(s.said); len(told) > 0 {
		t.Errorf("said on healing: %q", told)
	}
	s.later(61 * time.Second)
	s.wants("etcd maxUnavailable=1 AllReady")
}

func TestBudgetLoosensAfterSettle(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {settle: 60s}}")
	change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(0)) })
	s.wants("etcd maxUnavailable=0 AllReady")
	s.later(59 * time.Second)
	s.restart()
	s.wants("etcd maxUnavailable=0 AllReady")
	s.later(2 * time.Second)
	s.wants("etcd maxUnavailable=1 AllReady")
}

func TestBudgetDoesNotLoosenOnFirstSight(t *testing.T) {
	t.Parallel()
	s := druid(t, "{disruption: {settle: 5s}}")
	change(s, "main", func(p *policyv1.PodDisruptionBudget) { p.Spec.MinAvailable = new(intstr.FromInt(3)) })
	if wrote, result := s.look(); wrote != 0 || result.RequeueAfter == 0 {
		t.Errorf("wrote %d times on leases of which nothing is known, next look after %s", wrote, result.RequeueAfter)
	}
	renew(s)
	s.wants("main minAvailable=3 AllReady")
	s.later(6 * time.Second)
	s.wants("main minAvailable=2 AllReady")
}

// renew lets every member renew its lease, ten seconds later.
func renew(s *stage) {
	s.later(10 * time.Second)
	for _, o := range s.Objects {
		if lease, ok := o.(*coordinationv1.Lease); ok {
			lease.Spec.RenewTime.Time = lease.Spec.RenewTime.Add(10 * time.Second)
			s.leases.Observe(lease)
		}
	}
}

func TestBudgetFollowsALeaseThatAges(t *testing.T) {
	t.Parallel()
	s := druid(t, "{}")
	s.look()
	renew(s)
	s.wants("main minAvailable=2 AllReady")
	_, result := s.look()
	if result.RequeueAfter <= 0 || result.RequeueAfter > 31*time.Second {
		t.Errorf("looks again after %s, want the first lease's end", result.RequeueAfter)
	}
	s.later(result.RequeueAfter)
	s.wants("main minAvailable=3 QuorumAtRisk")
}

func TestBudgetIsMadeWhereThereIsNone(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {createMissing: true}}")
	foreign := take(s, "etcd")
	s.wants("etcd-quorum minAvailable=2 AllReady")
	s.restart()
	s.wants("etcd-quorum minAvailable=2 AllReady")
	s.put(foreign)
	s.wants("etcd maxUnavailable=1 AllReady")
	take(s, "etcd")
	s.wants("etcd-quorum minAvailable=2 AllReady")
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
	s.wants()
}

// TestBudgetOfOthersToo: maxUnavailable is counted from the pods that Kubernetes expects,
// which are none for pods without a controller.
func TestBudgetOfOthersToo(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		expected  int32 // pods, as the disruption controller says
		want      string
		uncounted bool
	}{
		{"a Deployment's", 5, "etcd maxUnavailable=1 AllReady", false},
		{"nobody's", 3, "etcd maxUnavailable=0 AllReady", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{}")
			for _, name := range []string{"a", "b"} {
				s.put(&corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "store", UID: types.UID(name), Labels: map[string]string{"app": "etcd"}},
					Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
				})
			}
			change(s, "etcd", func(p *policyv1.PodDisruptionBudget) {
				p.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: row.expected, CurrentHealthy: 5}
			})
			s.wants(row.want)
			f, _ := s.budget.Findings.Of(s.key)
			if uncounted := f.Verdict == v1alpha1.Broken && f.Reason == observe.BudgetUncounted; uncounted != row.uncounted {
				t.Errorf("found %+v", f)
			}
		})
	}
}

// TestBudgetThatWasMadeStrays: somebody has the budget that was made select others, or
// has one of its name that does.
func TestBudgetThatWasMadeStrays(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {createMissing: true}}")
	take(s, "etcd")
	s.wants("etcd-quorum minAvailable=2 AllReady")
	stray := func(p *policyv1.PodDisruptionBudget) {
		p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	copied := take(s, "etcd-quorum").DeepCopyObject().(*policyv1.PodDisruptionBudget)
	s.wants("etcd-quorum minAvailable=2 AllReady")
	stray(copied)
	copied.Name, copied.UID = "web", "copy"
	s.put(copied)
	change(s, "etcd-quorum", stray)
	s.wants("etcd-quorum minAvailable=2 AllReady", "web minAvailable=2 -")
	take(s, "web")

	change(s, "etcd-quorum", func(p *policyv1.PodDisruptionBudget) {
		stray(p)
		p.Labels, p.Annotations = nil, nil
	})
	_, result := s.look()
	if f, _ := s.budget.Findings.Of(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasonNameTaken {
		t.Errorf("found %+v of a name that is taken", f)
	}
	if told := strings.Join(heard(s.said), "\n"); !strings.Contains(told, "is there and does not select the members") {
		t.Errorf("said %q", told)
	}
	if result.RequeueAfter < 2*time.Second {
		t.Errorf("looks again after %s", result.RequeueAfter)
	}
}

func TestBudgetIsNotMadeUnasked(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	take(s, "etcd")
	s.wants()
	if f, _ := s.budget.Findings.Of(s.key); f.Verdict != v1alpha1.Broken || f.Reason != observe.NoBudget {
		t.Errorf("found %+v", f)
	}
	if told := heard(s.said); len(told) != 1 {
		t.Errorf("said %q, want one Event", told)
	}
	etcd := druid(t, "{disruption: {createMissing: true}}")
	take(etcd, "main")
	etcd.Objects = slices.DeleteFunc(etcd.Objects, func(o client.Object) bool { _, is := o.(*appsv1.StatefulSet); return is })
	etcd.wants() // druid will make it, before the StatefulSet
}

// take removes a budget and returns it.
func take(s *stage, name string) client.Object {
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

func TestBudgetDenied(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.refuse = apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), "etcd", errors.New("changes are disallowed at the moment"))
	var waits []time.Duration
	for range 6 {
		_, result := s.look()
		waits = append(waits, result.RequeueAfter/time.Second)
	}
	if want := []time.Duration{5, 10, 20, 40, 80, 80}; !slices.Equal(waits, want) {
		t.Errorf("tried again after %d seconds, want %d", waits, want)
	}
	told := heard(s.said)
	if len(told) != 1 || !strings.Contains(told[0], reasonWriteDenied) || !strings.Contains(told[0], "disallowed at the moment") {
		t.Errorf("said %q, want one Event with the denial", told)
	}
	if f, _ := s.budget.Findings.Of(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasonWriteDenied {
		t.Errorf("found %+v", f)
	}
	s.refuse = nil
	s.wants("etcd maxUnavailable=1 AllReady")
	if f, _ := s.budget.Findings.Of(s.key); f.Verdict != v1alpha1.Kept {
		t.Errorf("found %+v after the write was taken", f)
	}
	s.refuse = apierrors.NewConflict(policyv1.Resource("poddisruptionbudgets"), "etcd", errors.New("changed"))
	change(s, "etcd-1", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	if _, result := s.look(); result.RequeueAfter == 0 || result.RequeueAfter > 2*time.Second {
		t.Errorf("after a conflict: next look after %s", result.RequeueAfter)
	}
}

func TestBudgetLeavesAQuarrel(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	s.wants("etcd maxUnavailable=1 AllReady")
	reset := func() {
		change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(2)) })
	}
	for range quarrels {
		s.later(time.Second)
		reset()
		s.wants("etcd maxUnavailable=1 AllReady")
	}
	reset()
	s.wants("etcd maxUnavailable=2 AllReady")
	if _, result := s.look(); result.RequeueAfter <= 0 || result.RequeueAfter > quarrelTime {
		t.Errorf("looks again after %s, want the end of the quarrel", result.RequeueAfter)
	}
	if f, _ := s.budget.Findings.Of(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasonWrittenBack {
		t.Errorf("found %+v", f)
	}
	s.later(quarrelTime + time.Second)
	s.wants("etcd maxUnavailable=1 AllReady")
}

func TestBudgetWarns(t *testing.T) {
	t.Parallel()
	s := plain(t, "{mode: Warn}")
	change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(3)) })
	s.wants("etcd maxUnavailable=3 -")
	if s.writes != 0 {
		t.Errorf("wrote %d times in mode Warn", s.writes)
	}
	if told := heard(s.said); len(told) != 1 || !strings.Contains(told[0], "would be kept at maxUnavailable=1, not maxUnavailable=3") {
		t.Errorf("said %q", told)
	}
}

func TestBudgetWithoutPolicyIsNotTouched(t *testing.T) {
	t.Parallel()
	s := plain(t, "")
	s.wants("etcd maxUnavailable=1 -")
	if told := heard(s.said); s.writes != 0 || len(told) != 0 {
		t.Errorf("wrote %d times, said %q", s.writes, told)
	}
}
