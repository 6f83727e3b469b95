// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// arrives changes an object as a watch delivers the change, and reconciles what it maps to. It
// returns the keys.
func arrives[T client.Object](s *stage, name string, of func(context.Context, T) keys, when predicate.TypedPredicate[T], edit func(T)) []owner.Key {
	s.t.Helper()
	before := find[T](s, name).DeepCopyObject().(T)
	after := before.DeepCopyObject().(T)
	edit(after)
	s.Put(after)
	update := event.TypedUpdateEvent[T]{ObjectOld: before, ObjectNew: after}
	if !when.Update(update) {
		s.t.Fatal("the watch ignores the change")
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[owner.Key]())
	h := handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, o T) []owner.Key { return of(ctx, o) })
	h.Update(s.t.Context(), update, queue)
	var out []owner.Key
	for queue.Len() > 0 {
		key, _ := queue.Get()
		out = append(out, key)
		s.key = key
		s.reconcile()
	}
	return out
}

func annotated[T client.Object](value string) func(T) {
	return func(o T) {
		annotations := map[string]string{}
		if value != "" {
			annotations[v1alpha1.EtcdAnnotation] = value
		}
		o.SetAnnotations(annotations)
	}
}

// hidden makes the StatefulSet and its pods run a launcher, so that only a declaration shows etcd.
func hidden(s *stage) {
	run := func(spec *corev1.PodSpec) {
		spec.Containers[0].Command, spec.Containers[0].Args, spec.Containers[0].Env = []string{"/launch"}, nil, nil
	}
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		run(&o.Spec.Template.Spec)
		o.Annotations = map[string]string{v1alpha1.EtcdAnnotation: o.Spec.Template.Spec.Containers[0].Name}
	})
	for _, pod := range []string{"etcd-0", "etcd-1", "etcd-2"} {
		change(s, pod, func(p *corev1.Pod) { run(&p.Spec) })
	}
}

// TestDenialIsHeld checks that a workload that is declared to run no etcd, or is no longer declared
// to, keeps its budget for the settle time. The change arrives by watch, and the release has an Event.
func TestDenialIsHeld(t *testing.T) {
	for _, row := range []struct {
		name     string
		stage    func(*testing.T) *stage
		arrives  func(*stage) []owner.Key
		held     string
		released []string
		event    string
	}{
		{"denied, with an author's budget", func(t *testing.T) *stage {
			t.Helper()
			s := plain(t, "{}")
			change(s, "etcd", func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable.IntVal = 3 })
			return s
		}, deny, "etcd maxUnavailable=1 AllReady", []string{"etcd maxUnavailable=3 -"}, "BudgetReleased"},
		{"denied, with a budget of ours", plainCreated, deny, "etcd-quorum minAvailable=2 AllReady", nil, "BudgetRemoved"},
		{"no longer declared", func(t *testing.T) *stage {
			t.Helper()
			s := plain(t, "{disruption: {createMissing: true}}")
			hidden(s)
			return s
		}, func(s *stage) []owner.Key {
			return arrives(s, "etcd", s.budget.ofStatefulSet, anyChange[*appsv1.StatefulSet](), annotated[*appsv1.StatefulSet](""))
		}, "etcd maxUnavailable=1 AllReady", []string{"etcd maxUnavailable=1 -"}, "BudgetReleased"},
		{"a denied Etcd", func(t *testing.T) *stage {
			t.Helper()
			return druid(t, "{}")
		}, func(s *stage) []owner.Key {
			return arrives(s, "main", s.budget.ofEtcd, etcdChanged(), annotated[*druidv1alpha1.Etcd](v1alpha1.NotEtcd))
		}, "main minAvailable=2 AllReady", []string{"main minAvailable=2 -"}, "BudgetReleased"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := row.stage(t)
			key := s.key
			t.Cleanup(func() { s.budget.removeState(key) })
			s.expect(row.held)
			controllertest.Recorded(t, s.events)
			if got := row.arrives(s); len(got) != 1 || got[0] != key {
				t.Fatalf("the change leads to %v, want %v", got, key)
			}
			s.expect(row.held)
			if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); strings.Count(got, "Warning BudgetHeld") != 2 {
				t.Errorf("recorded %q, want BudgetHeld on the budget and on the owner", got)
			}
			s.advance(59 * time.Second)
			s.restart()
			if strings.HasPrefix(row.held, "main") {
				row.held = "main minAvailable=3 QuorumAtRisk" // no lease was renewed meanwhile
			}
			s.expect(row.held)
			_, result := s.reconcile()
			if result.RequeueAfter <= 0 || result.RequeueAfter > time.Second {
				t.Errorf("reconciles again after %s, want the end of the settle time", result.RequeueAfter)
			}
			controllertest.Recorded(t, s.events)
			s.advance(time.Second)
			s.expect(row.released...)
			if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); strings.Count(got, "Warning "+row.event) != 2 {
				t.Errorf("recorded %q, want %s on the budget and on the owner", got, row.event)
			}
			s.reconcile()
			if got := budgetValues(t, key); len(got) > 0 {
				t.Errorf("series remain: %v", got)
			}
		})
	}
}

func deny(s *stage) []owner.Key {
	return arrives(s, "etcd", s.budget.ofStatefulSet, anyChange[*appsv1.StatefulSet](), annotated[*appsv1.StatefulSet](v1alpha1.NotEtcd))
}

// TestDenialTightens checks that the held budget still becomes stricter, and that a declaration that
// comes back within the settle time keeps it.
func TestDenialTightens(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	deny(s)
	setReady(s, "etcd-0", corev1.ConditionFalse)
	setReady(s, "etcd-1", corev1.ConditionFalse)
	s.expect("etcd-quorum minAvailable=3 QuorumAtRisk")
	setReady(s, "etcd-0", corev1.ConditionTrue)
	setReady(s, "etcd-1", corev1.ConditionTrue)
	arrives(s, "etcd", s.budget.ofStatefulSet, anyChange[*appsv1.StatefulSet](), annotated[*appsv1.StatefulSet](""))
	s.advance(time.Hour)
	s.reconcile()
	s.advance(time.Hour)
	s.expect("etcd-quorum minAvailable=2 AllReady")
}

// TestDeniedSinceStart checks that a controller that starts after the declaration finds the budget.
func TestDeniedSinceStart(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	change(s, "etcd", annotated[*appsv1.StatefulSet](v1alpha1.NotEtcd))
	s.restart()
	if got := s.budget.ofStatefulSet(t.Context(), find[*appsv1.StatefulSet](s, "etcd")); len(got) != 1 || got[0] != s.key {
		t.Errorf("the StatefulSet maps to %v", got)
	}
}
