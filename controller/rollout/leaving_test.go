// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// holders are the objects that record the pod that restarts next: the budget, or the StatefulSet where
// no budget selects the members.
var holders = []struct {
	name      string
	unbudget  bool
	recordsOf func(s *stage) string
}{
	{"a budget", false, recordsOfBudget},
	{"the StatefulSet", true, recordsOfSet},
}

func recordsOfBudget(s *stage) (records string) {
	change(s, "etcd", func(b *policyv1.PodDisruptionBudget) { records = b.Annotations[v1alpha1.EvictionsAnnotation] })
	return records
}

func recordsOfSet(s *stage) (records string) {
	change(s, "etcd", func(sts *appsv1.StatefulSet) { records = sts.Annotations[v1alpha1.EvictionsAnnotation] })
	return records
}

// newHolderStage returns a stage whose budget may select other pods.
func newHolderStage(t *testing.T, unbudget bool) *stage {
	t.Helper()
	s := newStage(t)
	change(s, "etcd", func(b *policyv1.PodDisruptionBudget) { b.ResourceVersion = "v0" })
	change(s, "etcd", func(sts *appsv1.StatefulSet) { sts.ResourceVersion = "v0" })
	if unbudget {
		change(s, "etcd", func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"other": "pods"}}
		})
	}
	return s
}

// TestRolloutRecordsTheNextPod holds that the guard of evictions knows each pod that a rollout restarts
// next before its StatefulSet may restart it, with and without a budget.
func TestRolloutRecordsTheNextPod(t *testing.T) {
	t.Parallel()
	for _, h := range holders {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := newHolderStage(t, h.unbudget)
			for i, step := range []struct{ pod, want string }{
				{"etcd-2=", "partition 2 AllReady"},
				{"etcd-1=", "partition 1 AllReady"},
				{"etcd-0=", "partition 0 AllReady"},
			} {
				s.before = func() {
					if !strings.HasPrefix(h.recordsOf(s), step.pod) && s.strategy() == step.want {
						t.Errorf("the StatefulSet may restart a pod, and %q are recorded", h.recordsOf(s))
					}
				}
				s.expectStep(step.want)
				if got := h.recordsOf(s); !strings.HasPrefix(got, step.pod) {
					t.Errorf("%q are recorded, want %s first", got, step.pod)
				}
				if other := recordsOfBudget(s) + recordsOfSet(s); other != h.recordsOf(s) {
					t.Errorf("both objects record: %q", other)
				}
				s.update(2 - i)
			}
		})
	}
}

// TestRolloutBesideAnEviction holds that no pod may restart if another one's eviction was recorded since
// the facts were read.
func TestRolloutBesideAnEviction(t *testing.T) {
	t.Parallel()
	for _, h := range holders {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := newHolderStage(t, h.unbudget)
			evict := map[string]string{v1alpha1.EvictionsAnnotation: "etcd-0=" + s.uid(0) + "@" + s.clock.Now().UTC().Format(time.RFC3339)}
			s.before = func() {
				s.before = nil
				if h.unbudget {
					change(s, "etcd", func(sts *appsv1.StatefulSet) {
						sts.ResourceVersion += "x"
						sts.Annotations[v1alpha1.EvictionsAnnotation] = evict[v1alpha1.EvictionsAnnotation]
					})
				} else {
					change(s, "etcd", func(b *policyv1.PodDisruptionBudget) { b.ResourceVersion, b.Annotations = b.ResourceVersion+"x", evict })
				}
			}
			if _, err := s.reconciler.Reconcile(t.Context(), s.key); err != nil {
				t.Fatal(err)
			}
			s.expectStep("partition 3 RolloutPodLeaving")
		})
	}
}

// TestRolloutRenewsItsRecord holds that no member is evicted beside a released pod, however long the
// StatefulSet's controller takes.
func TestRolloutRenewsItsRecord(t *testing.T) {
	t.Parallel()
	for _, h := range holders {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := newHolderStage(t, h.unbudget)
			s.expectStep("partition 2 AllReady")
			first := h.recordsOf(s)
			s.advance(eviction.Bound/2 + time.Second)
			before := s.Writes
			if _, err := s.reconciler.Reconcile(t.Context(), s.key); err != nil {
				t.Fatal(err)
			}
			if s.Writes != before+1 || h.recordsOf(s) == first {
				t.Errorf("%d writes, want one of the record %q", s.Writes-before, h.recordsOf(s))
			}
		})
	}
}
