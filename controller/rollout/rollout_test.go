// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

func TestRolloutStepByStep(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.expectStep("partition 2 AllReady")
	s.update(2)
	s.expectStep("partition 1 AllReady")
	s.update(1)
	s.expectStep("partition 0 AllReady")
	s.update(0)
	s.expectStep("partition 0")
	if text := s.Budgets(s.clock.Now()); !strings.HasPrefix(text[0], "etcd ") {
		t.Errorf("the budgets are %q", text)
	}
}

func TestRolloutHoldsAndCures(t *testing.T) {
	t.Parallel()
	s := newStage(t)
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
	s := newStage(t)
	change(s, "etcd", func(sts *appsv1.StatefulSet) { sts.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(1)) })
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
			s := newStage(t)
			change(s, "etcd", row.change)
			s.key.Kind = "Etcd"
			s.expectStep(row.want)
		})
	}
}

func TestRolloutDenied(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.refuse = apierrors.NewForbidden(appsv1.Resource("statefulsets"), "etcd", errors.New("protected"))
	result, err := s.reconciler.Reconcile(t.Context(), s.key)
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		t.Errorf("%+v %v", result, err)
	}
	for _, o := range s.Objects {
		if record := o.GetAnnotations()[v1alpha1.EvictionsAnnotation]; record != "" {
			t.Errorf("%s records %s, which does not restart: no other one could be drained", o.GetName(), record)
		}
	}
	if event := <-s.events.Events; !strings.Contains(event, "RolloutWriteDenied") || !strings.Contains(event, "protected") {
		t.Error(event)
	}
}
