// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

func TestBudgetIsRestored(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		wrote  int // maxUnavailable, by its author
		change func(*stage)
		wanted string
	}{
		{"switched off", 0, func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
		}, "etcd maxUnavailable=0 -"},
		{"the original value is below the quorum", 2, func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Disruption.Enabled = new(false) })
		}, "etcd maxUnavailable=1 -"},
		{"opted out", 0, func(s *stage) {
			change(s, "etcd", func(o *appsv1.StatefulSet) {
				o.Annotations = map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut}
			})
		}, "etcd maxUnavailable=0 -"},
		{"mode Warn", 0, func(s *stage) {
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeWarn })
		}, "etcd maxUnavailable=0 -"},
		{"the policy is deleted", 0, func(s *stage) {
			s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == "policy" })
		}, "etcd maxUnavailable=0 -"},
		{"the cluster is deleted", 2, func(s *stage) {
			s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
				_, set := o.(*appsv1.StatefulSet)
				_, pod := o.(*corev1.Pod)
				return set || pod
			})
		}, "etcd maxUnavailable=2 -"},
		{"its owner is deleted, and the members run", 2, func(s *stage) {
			s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { _, is := o.(*appsv1.StatefulSet); return is })
		}, "etcd maxUnavailable=1 AllReady"},
		{"it selects only one member now", 2, func(s *stage) {
			change(s, "etcd", func(p *policyv1.PodDisruptionBudget) {
				p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"statefulset.kubernetes.io/pod-name": "etcd-1"}}
			})
		}, "etcd maxUnavailable=2 -"},
		{"it selects only one member now, and no policy keeps it", 2, func(s *stage) {
			change(s, "etcd", func(p *policyv1.PodDisruptionBudget) {
				p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"statefulset.kubernetes.io/pod-name": "etcd-1"}}
			})
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
		}, "etcd maxUnavailable=2 -"},
		{"it selects other pods now", 2, func(s *stage) {
			change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.Selector.MatchExpressions[0].Values = []string{"web"} })
		}, "etcd maxUnavailable=2 -"},
		{"its author changes it to a percentage", 2, func(s *stage) {
			change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromString("34%")) })
		}, "etcd maxUnavailable=1 AllReady"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {settle: 1s}}")
			change(s, "etcd", func(p *policyv1.PodDisruptionBudget) { p.Spec.MaxUnavailable = new(intstr.FromInt(row.wrote)) })
			s.reconcile()
			s.advance(2 * time.Second)
			s.expect(fmt.Sprintf("etcd maxUnavailable=%d AllReady", min(row.wrote, 1)))
			row.change(s)
			s.restart()
			s.reconcile() // the budget is held for the settle time, which may be the default
			s.advance(time.Minute)
			s.expect(row.wanted)
		})
	}
}

// TestCreatedBudgetIsDeleted checks that a created budget is deleted with the policy,
// whatever a user has changed in it.
func TestCreatedBudgetIsDeleted(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*policyv1.PodDisruptionBudget){
		"unchanged":    func(*policyv1.PodDisruptionBudget) {},
		"a percentage": func(p *policyv1.PodDisruptionBudget) { p.Spec.MinAvailable = new(intstr.FromString("51%")) },
		"AlwaysAllow": func(p *policyv1.PodDisruptionBudget) {
			p.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
		},
		"one member only": func(p *policyv1.PodDisruptionBudget) {
			p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"statefulset.kubernetes.io/pod-name": "etcd-1"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plain(t, "{disruption: {createMissing: true}}")
			removeBudget(s, "etcd")
			s.reconcile()
			change(s, "etcd-quorum", edit)
			s.reconcile()
			if len(s.budgets()) != 1 {
				t.Fatalf("budgets are %q while the policy keeps one", s.budgets())
			}
			change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
			s.reconcile()
			s.advance(time.Minute)
			s.expect()
		})
	}
}

// TestCopyOfCreatedBudgetStays checks that a copy of a created budget belongs to its author,
// and stays as it is when the policy ends.
func TestCopyOfCreatedBudgetStays(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	pdb := removeBudget(s, "etcd-quorum").(*policyv1.PodDisruptionBudget)
	pdb.Name = "mine"
	s.Objects = append(s.Objects, pdb)
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
	s.reconcile()
	s.advance(time.Minute)
	s.expect("mine minAvailable=2 -")
	if observe.Ours(find[*policyv1.PodDisruptionBudget](s, "mine")) {
		t.Error("it still has our label")
	}
}

// TestOrphanedCreatedBudget checks that a created budget is deleted when no member is left.
// A copy of it, which has our label and record as well, belongs to its author and stays.
func TestOrphanedCreatedBudget(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name            string
		namespace, copy string // of the budget when its owner is gone
		want            []string
	}{
		{"as created", "store", "etcd-quorum", nil},
		{"copied to another namespace", "other", "etcd-quorum", []string{"etcd-quorum minAvailable=2 -"}},
		{"copied under another name", "store", "mine", []string{"mine minAvailable=2 -"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plainCreated(t)
			pdb := removeBudget(s, "etcd-quorum").(*policyv1.PodDisruptionBudget)
			// kubectl delete --cascade=orphan removes the owners, and so do users who copy.
			pdb.Namespace, pdb.Name, pdb.OwnerReferences = row.namespace, row.copy, nil
			s.Objects = observetest.Objects{pdb}
			s.key.Namespace = row.namespace
			s.restart()
			s.expect(row.want...)
			if row.want != nil && observe.Ours(find[*policyv1.PodDisruptionBudget](s, row.copy)) {
				t.Error("it still has our label")
			}
		})
	}
}

// TestBudgetSeriesEnd checks that a cluster that is gone has no series, so that no alert
// continues. It isn't parallel, because the process has one set of series.
func TestBudgetSeriesEnd(t *testing.T) {
	s := plain(t, "{}")
	s.reconcile()
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		_, set := o.(*appsv1.StatefulSet)
		return set
	})
	s.reconcile()
	if got := budgetValues(t, s.key); len(got) > 0 {
		t.Errorf("series remain: %v", got)
	}
}
