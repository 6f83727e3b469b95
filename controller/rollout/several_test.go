// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// TestMaxUnavailableReturnsLast releases a rollout whose author lets all pods restart at once. One restarts at
// once until all have the new template.
func TestMaxUnavailableReturnsLast(t *testing.T) {
	t.Parallel()
	for _, gap := range gaps {
		t.Run(gap.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.failUpdated()
			change(s, "etcd", func(sts *appsv1.StatefulSet) {
				sts.Annotations[v1alpha1.RolloutAuthorAnnotation] = `{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"100%"}}`
				sts.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromString("100%")) // of a version before
			})
			gap.open(s)
			s.expectStep("partition 3 RolloutUnguarded")
			s.expectMax("1")
			s.advance(time.Minute)
			s.expectStep("partition 0 RolloutGuardEnded")
			s.expectMax("1")
			for i := range 3 {
				s.update(i)
			}
			change(s, "etcd", func(sts *appsv1.StatefulSet) {
				sts.Status.CurrentRevision, sts.Status.UpdatedReplicas = "new", sts.Status.Replicas
			})
			s.expectStep("partition 0")
			s.expectMax("100%")
		})
	}
}

func (s *stage) expectMax(want string) {
	s.t.Helper()
	sts := controllertest.Find[*appsv1.StatefulSet](s.t, s.Objects, "etcd")
	if got := sts.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.String(); got != want {
		s.t.Errorf("maxUnavailable is %s, want %s", got, want)
	}
}
