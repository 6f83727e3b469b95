// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// stage is a cluster of three members, whose StatefulSet has a new template that is held.
type stage struct {
	*controllertest.Store
	t          *testing.T
	clock      *clocktesting.FakePassiveClock
	events     *events.FakeRecorder
	reader     *observe.Reader
	reconciler *Reconciler
	key        owner.Key
	deleted    []string
	// before runs before each write; nil does nothing.
	before func()
	// refuse is the error of each write of a StatefulSet, or only of the one that is named.
	refuse    error
	refuseSet string
	// recorded are the Events of all replicas.
	recorded []string
}

// Patch refuses the writes of StatefulSets where the stage does.
func (s *stage) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if s.before != nil {
		s.before()
	}
	if _, is := obj.(*appsv1.StatefulSet); is && s.refuse != nil && (s.refuseSet == "" || s.refuseSet == obj.GetName()) {
		return s.refuse
	}
	return s.Store.Patch(ctx, obj, patch, opts...)
}

// Delete deletes a pod.
func (s *stage) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	s.deleted = append(s.deleted, obj.GetName())
	return nil
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{
		Store: &controllertest.Store{Objects: controllertest.Cluster(t, "plain-3", "store", "{rollout: {guard: Enforce}}")},
		t:     t, clock: clocktesting.NewFakePassiveClock(controllertest.Now), key: owner.Key{Kind: "StatefulSet", Namespace: "store", Name: "etcd"},
	}
	s.reader = &observe.Reader{Reader: s.Cached(), Live: s.Store, Leases: &leaseclock.Clock{Clock: s.clock}}
	s.restart()
	change(s, "etcd", func(sts *appsv1.StatefulSet) {
		sts.Status.UpdateRevision, sts.Status.CurrentRevision = "new", "old"
		sts.Status.ObservedGeneration = sts.Generation
		text, err := annotation.RolloutRecord{
			Author: appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
			Value:  rollout.Value{Partition: 3}, Since: controllertest.Now, Reason: "AllReady",
		}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		sts.Annotations = text
		sts.Spec.UpdateStrategy = annotation.WithRolloutValue(appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}, rollout.Value{Partition: 3})
	})
	for i := range 3 {
		s.pod(i, func(p *corev1.Pod) { p.Labels[appsv1.StatefulSetRevisionLabel] = "old" })
	}
	return s
}

// restart replaces the controller by a new one without memory, as another replica is.
func (s *stage) restart() {
	for s.reconciler != nil && len(s.events.Events) > 0 {
		s.recorded = append(s.recorded, <-s.events.Events)
	}
	s.events = events.NewFakeRecorder(100)
	s.reconciler = &Reconciler{Client: s, Recorder: s.events, Clock: s.clock, Reader: s.reader}
}

func (s *stage) pod(i int, edit func(*corev1.Pod)) {
	s.t.Helper()
	change(s, fmt.Sprintf("etcd-%d", i), edit)
}

func (s *stage) uid(i int) string {
	s.t.Helper()
	return string(controllertest.Find[*corev1.Pod](s.t, s.Objects, fmt.Sprintf("etcd-%d", i)).UID)
}

func (s *stage) unready(i int) {
	s.t.Helper()
	s.pod(i, func(p *corev1.Pod) {
		for j := range p.Status.Conditions {
			if p.Status.Conditions[j].Type == corev1.PodReady {
				p.Status.Conditions[j].Status = corev1.ConditionFalse
			}
		}
	})
}

// step reconciles twice, the second time as another replica, and requires that only the first one
// writes the StatefulSet. It returns the strategy and the pods that were deleted.
func (s *stage) step() string {
	s.t.Helper()
	s.deleted = nil
	if _, err := s.reconciler.Reconcile(s.t.Context(), s.key); err != nil {
		s.t.Fatal(err)
	}
	out := s.strategy()
	change(s, "etcd", func(sts *appsv1.StatefulSet) { sts.Status.ObservedGeneration = sts.Generation })
	s.restart()
	before := s.Writes
	if _, err := s.reconciler.Reconcile(s.t.Context(), s.key); err != nil {
		s.t.Fatal(err)
	}
	if s.Writes != before {
		s.t.Errorf("another replica writes again: %s, and then %s", out, s.strategy())
	}
	if len(s.deleted) > 0 {
		out += " deleted " + s.deleted[0]
	}
	return out
}

func (s *stage) strategy() string {
	var sts appsv1.StatefulSet
	if err := s.Get(s.t.Context(), client.ObjectKey{Namespace: s.key.Namespace, Name: "etcd"}, &sts); err != nil {
		s.t.Fatal(err)
	}
	v := annotation.RolloutValueOf(&sts.Spec.UpdateStrategy)
	out := fmt.Sprintf("partition %d", v.Partition)
	if v.OnDelete {
		out = "OnDelete"
	}
	if reason := sts.Annotations[v1alpha1.RolloutReasonAnnotation]; reason != "" {
		out += " " + reason
	}
	return out
}

func (s *stage) expectStep(want string) {
	s.t.Helper()
	if got := s.step(); got != want {
		s.t.Errorf("%s, want %s", got, want)
	}
}

// update has the StatefulSet's controller restart a pod with the new template.
func (s *stage) update(i int) {
	s.t.Helper()
	s.pod(i, func(p *corev1.Pod) {
		p.Labels[appsv1.StatefulSetRevisionLabel] = "new"
		p.UID += "-new"
	})
}

// advance moves the clock forward.
func (s *stage) advance(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }

// tie adds a policy of the same priority as the stage's, which only warns.
func (s *stage) tie() {
	s.Put(&v1alpha1.EtcdTopologyPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "another", UID: "another"},
		Spec:       v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeWarn},
	})
}

// change edits the object of a kind and name in memory.
func change[T client.Object](s *stage, name string, edit func(T)) {
	s.t.Helper()
	edit(controllertest.Find[T](s.t, s.Objects, name))
}
