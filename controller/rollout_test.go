// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// rolloutStage is a cluster of three members, whose StatefulSet has a new template that is held.
type rolloutStage struct {
	*stage
	rollout *Rollout
	deleted []string
	refuse  error
	// recorded are the Events of all replicas.
	recorded []string
}

// Patch patches StatefulSets, and leaves budgets to the store.
func (s *rolloutStage) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	sts, is := obj.(*appsv1.StatefulSet)
	if !is {
		return s.stage.Patch(ctx, obj, patch, opts...)
	}
	if s.refuse != nil {
		return s.refuse
	}
	body, err := patch.Data(sts)
	if err != nil {
		return err
	}
	var old appsv1.StatefulSet
	if err := s.Get(ctx, client.ObjectKeyFromObject(sts), &old); err != nil {
		return err
	}
	text, err := json.Marshal(old)
	if err != nil {
		return err
	}
	if text, err = jsonpatch.MergePatch(text, body); err != nil {
		return err
	}
	var out appsv1.StatefulSet
	if err := json.Unmarshal(text, &out); err != nil {
		return err
	}
	s.put(&out)
	return nil
}

// Delete deletes a pod.
func (s *rolloutStage) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	s.deleted = append(s.deleted, obj.GetName())
	return nil
}

func newRolloutStage(t *testing.T) *rolloutStage {
	t.Helper()
	s := &rolloutStage{stage: plain(t, "{rollout: {guard: Enforce}}")}
	s.restartRollout()
	change(s.stage, "etcd", func(sts *appsv1.StatefulSet) {
		sts.Status.UpdateRevision, sts.Status.CurrentRevision = "new", "old"
		sts.Status.ObservedGeneration = sts.Generation
		text, err := annotation.RolloutRecord{
			Author: appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
			Value:  rollout.Value{Partition: 3}, Since: stageNow, Reason: "AllReady",
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

// restartRollout replaces the controller by a new one without memory, as another replica is.
func (s *rolloutStage) restartRollout() {
	for s.rollout != nil && len(s.events.Events) > 0 {
		s.recorded = append(s.recorded, <-s.events.Events)
	}
	s.events = events.NewFakeRecorder(100)
	s.rollout = &Rollout{Client: s, Recorder: s.events, Clock: s.clock, Reader: s.budget.Reader}
}

func (s *rolloutStage) pod(i int, edit func(*corev1.Pod)) {
	s.t.Helper()
	change(s.stage, fmt.Sprintf("etcd-%d", i), edit)
}

func (s *rolloutStage) unready(i int) {
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
func (s *rolloutStage) step() string {
	s.t.Helper()
	s.deleted = nil
	if _, err := s.rollout.Reconcile(s.t.Context(), s.key); err != nil {
		s.t.Fatal(err)
	}
	out := s.strategy()
	change(s.stage, "etcd", func(sts *appsv1.StatefulSet) { sts.Status.ObservedGeneration = sts.Generation })
	s.restartRollout()
	before := s.writes
	if _, err := s.rollout.Reconcile(s.t.Context(), s.key); err != nil {
		s.t.Fatal(err)
	}
	if s.writes != before {
		s.t.Errorf("another replica writes again: %s, and then %s", out, s.strategy())
	}
	if len(s.deleted) > 0 {
		out += " deleted " + s.deleted[0]
	}
	return out
}

func (s *rolloutStage) strategy() string {
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

func (s *rolloutStage) expectStep(want string) {
	s.t.Helper()
	if got := s.step(); got != want {
		s.t.Errorf("%s, want %s", got, want)
	}
}

// update has the StatefulSet's controller restart a pod with the new template.
func (s *rolloutStage) update(i int) {
	s.t.Helper()
	s.pod(i, func(p *corev1.Pod) {
		p.Labels[appsv1.StatefulSetRevisionLabel] = "new"
		p.UID += "-new"
	})
}

func TestRolloutStepByStep(t *testing.T) {
	t.Parallel()
	s := newRolloutStage(t)
	s.expectStep("partition 2 AllReady")
	s.update(2)
	s.expectStep("partition 1 AllReady")
	s.update(1)
	s.expectStep("partition 0 AllReady")
	s.update(0)
	s.expectStep("partition 0")
	if text := s.budgets(); !strings.HasPrefix(text[0], "etcd ") {
		t.Errorf("the budgets are %q", text)
	}
}

func TestRolloutHoldsAndCures(t *testing.T) {
	t.Parallel()
	s := newRolloutStage(t)
	s.unready(0)
	s.expectStep("OnDelete CuresMember deleted etcd-0")
	s.update(0)
	s.expectStep("partition 3 RolloutUpdatedNotReady")
	s.pod(0, func(p *corev1.Pod) {
		for j := range p.Status.Conditions {
			p.Status.Conditions[j].Status = corev1.ConditionTrue
		}
	})
	s.expectStep("partition 2 AllReady")
}

// TestRolloutBypassed writes the strategy past admission. It stays.
func TestRolloutBypassed(t *testing.T) {
	t.Parallel()
	s := newRolloutStage(t)
	change(s.stage, "etcd", func(sts *appsv1.StatefulSet) { sts.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(1)) })
	s.expectStep("partition 1")
	if got := strings.Join(s.recorded, "; "); !strings.Contains(got, "RolloutBypassed") || strings.Contains(got, "RolloutComplete") {
		t.Errorf("the Events are: %s", got)
	}
}

// TestRolloutOfAnotherKey reconciles an Etcd that is gone, whose StatefulSet is still held.
func TestRolloutOfAnotherKey(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*appsv1.StatefulSet)
		want   string
	}{
		"a cluster of its own": {func(*appsv1.StatefulSet) {}, "partition 2 AllReady"},
		"no etcd":              {func(sts *appsv1.StatefulSet) { sts.Annotations[v1alpha1.EtcdAnnotation] = v1alpha1.NotEtcd }, "partition 3 RolloutUnguarded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRolloutStage(t)
			change(s.stage, "etcd", row.change)
			s.key.Kind = "Etcd"
			s.expectStep(row.want)
		})
	}
}

// TestRolloutRenewsItsRecord: no member is evicted beside a released pod, however long the
// StatefulSet's controller takes.
func TestRolloutRenewsItsRecord(t *testing.T) {
	t.Parallel()
	s := newRolloutStage(t)
	s.expectStep("partition 2 AllReady")
	s.clock.SetTime(s.clock.Now().Add(eviction.Bound/2 + time.Second))
	before := s.writes
	if _, err := s.rollout.Reconcile(t.Context(), s.key); err != nil {
		t.Fatal(err)
	}
	if s.writes != before+1 {
		t.Errorf("%d writes, want one of the budget", s.writes-before)
	}
}

func TestRolloutDenied(t *testing.T) {
	t.Parallel()
	s := newRolloutStage(t)
	s.refuse = apierrors.NewForbidden(appsv1.Resource("statefulsets"), "etcd", errors.New("protected"))
	result, err := s.rollout.Reconcile(t.Context(), s.key)
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		t.Errorf("%+v %v", result, err)
	}
	if event := <-s.events.Events; !strings.Contains(event, "RolloutWriteDenied") || !strings.Contains(event, "protected") {
		t.Error(event)
	}
}
