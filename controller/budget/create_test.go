// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

func TestBudgetIsCreated(t *testing.T) {
	t.Parallel()
	s := plain(t, "{disruption: {createMissing: true}}")
	foreign := removeBudget(s, "etcd")
	s.expect("etcd-quorum minAvailable=2 AllReady")
	s.restart()
	s.expect("etcd-quorum minAvailable=2 AllReady")
	s.Put(foreign)
	s.expect("etcd maxUnavailable=1 AllReady")
	removeBudget(s, "etcd")
	s.expect("etcd-quorum minAvailable=2 AllReady")
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
	s.expect("etcd-quorum minAvailable=2 AllReady")
	s.advance(time.Minute)
	s.expect()
}

// TestCreatedBudgetSelectsOtherPods checks what happens when a user changes the selector of a
// created budget, or has a budget of its name with another selector.
func TestCreatedBudgetSelectsOtherPods(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	stray := func(p *policyv1.PodDisruptionBudget) {
		p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	copied := removeBudget(s, "etcd-quorum").DeepCopyObject().(*policyv1.PodDisruptionBudget)
	s.expect("etcd-quorum minAvailable=2 AllReady")
	stray(copied)
	copied.Name, copied.UID = "web", "copy"
	s.Put(copied)
	change(s, "etcd-quorum", stray)
	s.expect("etcd-quorum minAvailable=2 AllReady", "web minAvailable=2 -")
	removeBudget(s, "web")

	change(s, "etcd-quorum", func(p *policyv1.PodDisruptionBudget) {
		stray(p)
		p.Labels, p.Annotations = nil, nil
	})
	_, result := s.reconcile()
	if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasons.BudgetNameTaken.Name() {
		t.Errorf("found %+v of a name that is in use", f)
	}
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !strings.Contains(got, "exists and does not select the members") {
		t.Errorf("recorded %q", got)
	}
	if result.RequeueAfter < 2*time.Second {
		t.Errorf("reconciles again after %s", result.RequeueAfter)
	}
}

// TestCreatedBudgetIsRepaired checks that a budget that we created protects all members again after another client has
// changed it, also while no policy keeps it.
func TestCreatedBudgetIsRepaired(t *testing.T) {
	t.Parallel()
	selecting := func(s *metav1.LabelSelector) func(*policyv1.PodDisruptionBudget) {
		return func(p *policyv1.PodDisruptionBudget) { p.Spec.Selector = s }
	}
	one := map[string]string{appsv1.StatefulSetPodNameLabel: "etcd-1"}
	noNumber := func(p *policyv1.PodDisruptionBudget) { p.Spec.MinAvailable = nil }
	narrow := selecting(&metav1.LabelSelector{MatchLabels: one})
	for _, row := range []struct {
		name   string
		edit   func(*policyv1.PodDisruptionBudget)
		beside func(*stage)
		other  []string
	}{
		{name: "one member, by a label", edit: narrow},
		{name: "one member, by an expression", edit: selecting(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: appsv1.StatefulSetPodNameLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{"etcd-1"}},
		}})},
		{name: "one member, by a further label", edit: selecting(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "etcd", appsv1.StatefulSetPodNameLabel: "etcd-1"}})},
		{name: "the whole namespace", edit: selecting(&metav1.LabelSelector{})},
		{name: "no pods", edit: selecting(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}})},
		{name: "no number", edit: noNumber},
		{name: "no number, and one member", edit: func(p *policyv1.PodDisruptionBudget) { noNumber(p); narrow(p) }},
		{name: "while policies tie", edit: narrow, beside: tie},
		{name: "no number, while policies tie", edit: noNumber, beside: tie},
		{name: "no number, while the policy is off", edit: noNumber, beside: switchOff},
		{name: "no number, and the policy creates none", edit: noNumber, beside: func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Disruption.CreateMissing = false })
		}},
		{name: "beside a budget over some members", edit: narrow, beside: func(s *stage) {
			foreign(s, "theirs", "minAvailable: 1, selector: {"+byPod+"}")
		}, other: []string{"theirs minAvailable=1 -"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plainCreated(t)
			selector := find[*policyv1.PodDisruptionBudget](s, "etcd-quorum").Spec.Selector.DeepCopy()
			if row.beside != nil {
				row.beside(s)
			}
			change(s, "etcd-quorum", row.edit)
			s.expect(append([]string{"etcd-quorum minAvailable=2 AllReady"}, row.other...)...)
			if diff := cmp.Diff(selector, find[*policyv1.PodDisruptionBudget](s, "etcd-quorum").Spec.Selector); diff != "" {
				t.Errorf("its selector (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSelectorIsWrittenBack checks that a client that changes the selector of a budget of ours again and again does not
// make us write without end, and that the backoff of the number delays no repair of the selector.
func TestSelectorIsWrittenBack(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	narrow := func() {
		change(s, "etcd-quorum", func(p *policyv1.PodDisruptionBudget) {
			p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{appsv1.StatefulSetPodNameLabel: "etcd-1"}}
		})
	}
	narrowed := func() bool {
		return find[*policyv1.PodDisruptionBudget](s, "etcd-quorum").Spec.Selector.MatchLabels[appsv1.StatefulSetPodNameLabel] != ""
	}
	for range maxConflicts + 1 {
		change(s, "etcd-quorum", func(p *policyv1.PodDisruptionBudget) { p.Spec.MinAvailable = new(intstr.FromInt(1)) })
		s.reconcile()
	}
	for range maxConflicts {
		s.advance(time.Second)
		narrow()
		s.expect("etcd-quorum minAvailable=1 AllReady")
		if narrowed() {
			t.Fatal("the selector is not repaired")
		}
	}
	narrow()
	controllertest.Recorded(t, s.events)
	s.expect("etcd-quorum minAvailable=1 AllReady")
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !narrowed() || strings.Contains(got, "BudgetReselected") {
		t.Errorf("written back once more: %q", got)
	}
	if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasons.BudgetWrittenBack.Name() {
		t.Errorf("found %+v", f)
	}
	setReady(s, "etcd-0", corev1.ConditionFalse)
	s.expect("etcd-quorum minAvailable=2 MemberDown")
	if narrowed() {
		t.Error("not repaired although a member is down")
	}
	narrow()
	s.expect("etcd-quorum minAvailable=2 MemberDown")
	s.advance(conflictWindow + time.Second)
	s.expect("etcd-quorum minAvailable=2 MemberDown")
	if narrowed() {
		t.Error("not repaired after the backoff")
	}
}

func TestBudgetIsNotCreatedByDefault(t *testing.T) {
	t.Parallel()
	s := plain(t, "{}")
	removeBudget(s, "etcd")
	s.expect()
	if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Broken || f.Reason != reasons.NoBudget.Name() {
		t.Errorf("found %+v", f)
	}
	if got := controllertest.Recorded(t, s.events); len(got) != 1 {
		t.Errorf("recorded %q, want one Event", got)
	}
	etcd := druid(t, "{disruption: {createMissing: true}}")
	removeBudget(etcd, "main")
	etcd.Objects = slices.DeleteFunc(etcd.Objects, func(o client.Object) bool { _, is := o.(*appsv1.StatefulSet); return is })
	etcd.expect() // etcd-druid creates it, before the StatefulSet
}

// withoutBudgets returns the objects as a cache holds them that has no budget yet.
func withoutBudgets(objects observetest.Objects) observetest.Objects {
	return slices.DeleteFunc(slices.Clone(objects), func(o client.Object) bool {
		_, is := o.(*policyv1.PodDisruptionBudget)
		return is
	})
}

// TestBudgetCreationLosesRace checks that a controller whose cache lacks a new budget
// creates no second one, and adopts that budget as soon as its cache has it.
func TestBudgetCreationLosesRace(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		// byLeader reports whether the previous leader created the budget, or else another author.
		byLeader bool
		// live reports whether the API server is read before the creation.
		live bool
		want string
	}{
		{name: "an author created one", live: true, want: "etcd maxUnavailable=1 AllReady"},
		{name: "the previous leader created one", byLeader: true, live: true, want: "etcd-quorum minAvailable=2 AllReady"},
		{name: "the previous leader created one after the API server was read", byLeader: true, want: "etcd-quorum minAvailable=2 AllReady"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {createMissing: true}}")
			if row.byLeader {
				removeBudget(s, "etcd")
				s.expect(row.want)
			}
			s.restart()
			stale := &observe.Reader{Reader: withoutBudgets(s.Objects), Leases: s.leases}
			if row.live {
				stale.Live = s.Store
			}
			current := s.budget.Reader
			s.budget.Reader = stale
			wrote, result := s.reconcile()
			if wrote > 0 || result.RequeueAfter <= 0 || result.RequeueAfter > 5*time.Second {
				t.Errorf("wrote %d times, requeued after %s", wrote, result.RequeueAfter)
			}
			if got := controllertest.Recorded(t, s.events); row.live && len(got) > 0 {
				t.Errorf("recorded %q of a race that the next reconciliation ends", got)
			}
			s.budget.Reader = current
			s.expect(row.want)
			if f, _ := s.budget.Findings.Get(s.key); f.Verdict != v1alpha1.Kept {
				t.Errorf("found %+v", f)
			}
		})
	}
}
