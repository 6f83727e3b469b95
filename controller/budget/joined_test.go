// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// becomesReady makes a pod Ready now. A new one was created now.
func becomesReady(s *stage, pod string, created bool) {
	now := metav1.NewTime(s.clock.Now())
	change(s, pod, func(p *corev1.Pod) {
		p.Status.Conditions[0].Status, p.Status.Conditions[0].LastTransitionTime = corev1.ConditionTrue, now
		if created {
			p.UID, p.CreationTimestamp = types.UID(pod+now.String()), now
		}
	})
}

// claim gives a pod a volume claim that was created some time ago.
func claim(s *stage, pod string, ago time.Duration) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "store", Name: "data-" + pod, UID: types.UID("data-" + pod), CreationTimestamp: metav1.NewTime(s.clock.Now().Add(-ago)),
	}}
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == c.UID })
	s.Put(c)
}

// TestMemberThatJoined checks that a member that joined a moment ago counts as one that may be a learner, in the budget
// and for the guard, also for a new leader, and for settle after it became Ready. A pod that restarts with its data
// does not.
func TestMemberThatJoined(t *testing.T) {
	t.Parallel()
	joins := func(n int, name string) func(*stage) {
		return func(s *stage) { scale(s, n); becomesReady(s, name, true) }
	}
	down := func(s *stage) {
		change(s, "etcd", func(o *appsv1.StatefulSet) {
			o.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		})
		for _, pod := range []string{"etcd-0", "etcd-1", "etcd-2"} {
			claim(s, pod, 24*time.Hour)
		}
		setReady(s, "etcd-2", corev1.ConditionFalse)
		s.expect("etcd-quorum minAvailable=2 MemberDown")
	}
	for _, row := range []struct {
		name          string
		before        int
		change        func(*stage)
		joined, after string
		guarded       bool
	}{
		{"a third member", 2, joins(3, "etcd-2"), "etcd-quorum minAvailable=3 MemberJoined", "etcd-quorum minAvailable=2 AllReady", true},
		{"a fourth member", 3, joins(4, "etcd-3"), "etcd-quorum minAvailable=3 AllReady", "etcd-quorum minAvailable=3 AllReady", false},
		{"a fifth member", 4, joins(5, "etcd-4"), "etcd-quorum minAvailable=4 MemberJoined", "etcd-quorum minAvailable=3 AllReady", false},
		{"a pod that is created again with new claims", 3, func(s *stage) {
			down(s)
			claim(s, "etcd-2", 10*time.Second)
			becomesReady(s, "etcd-2", true)
		}, "etcd-quorum minAvailable=3 MemberJoined", "etcd-quorum minAvailable=2 AllReady", true},
		{"a pod that is created again", 3, func(s *stage) {
			down(s)
			becomesReady(s, "etcd-2", true)
		}, "etcd-quorum minAvailable=2 AllReady", "etcd-quorum minAvailable=2 AllReady", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := plainCreated(t)
			annotateSize(s, "2")
			scale(s, row.before)
			s.reconcile()
			s.advance(time.Hour)
			s.reconcile()
			row.change(s)
			s.restart() // it grew while no controller ran
			s.expect(row.joined)
			s.advance(20 * time.Second)
			s.restart()
			s.expect(row.joined)
			o, _, err := s.budget.Reader.Owner(t.Context(), s.key)
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.budget.Reader.Cluster(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r := eviction.Evaluate(eviction.Facts{Cluster: c, Pod: "etcd-0", Settle: time.Minute}); r.Allowed == row.guarded {
				t.Errorf("the guard: %s", r.Message)
			}
			s.advance(40 * time.Second)
			s.expect(row.after)
			becomesReady(s, "etcd-1", true) // a drain goes on
			s.expect(row.after)
		})
	}
}
