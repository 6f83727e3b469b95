// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
)

// TestRolloutCuresWithoutQuorum has no quorum for a while, and the data of each member where its row puts it. What
// decides is read from the API server: the cache has neither volumes nor readiness gates.
func TestRolloutCuresWithoutQuorum(t *testing.T) {
	t.Parallel()
	inContainer := func(p *corev1.Pod) {
		onClaim(p)
		p.Spec.Containers[0].VolumeMounts = nil
	}
	for name, row := range map[string]struct {
		pod  func(*corev1.Pod)
		down time.Duration
		want string
	}{
		"data on claims":                      {onClaim, 3 * time.Minute, "OnDelete CuresMember deleted etcd-1"},
		"data on claims, for a moment":        {onClaim, time.Minute, "partition 3 NoQuorum"},
		"data in the container":               {inContainer, 3 * time.Minute, "partition 3 RolloutDataEnds"},
		"data in the container, for a moment": {inContainer, time.Minute, "partition 3 RolloutDataEnds"},
		"the nodes are unreachable": {func(p *corev1.Pod) {
			onClaim(p)
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})
		}, 3 * time.Minute, "partition 3 NoQuorum"},
		"a readiness gate is closed": {func(p *corev1.Pod) {
			onClaim(p)
			p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/open"}, {ConditionType: "example.com/closed"}}
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
				corev1.PodCondition{Type: "example.com/open", Status: corev1.ConditionTrue})
		}, 3 * time.Minute, "OnDelete CuresMember deleted etcd-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.loseQuorum(row.down, row.pod)
			s.expectStep(row.want)
		})
	}
}

// TestHoldReadsSeldom holds a rollout for minutes by what only the API server shows. That is read at intervals,
// and again as soon as the cache shows another step.
func TestHoldReadsSeldom(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	live := &countingReader{Reader: s.Store, clock: s.clock}
	s.reader.Live = live
	s.loseQuorum(time.Minute, func(p *corev1.Pod) {
		onClaim(p)
		p.Spec.Containers[0].VolumeMounts = nil
	})
	reads := func(d time.Duration) int {
		live.times = map[time.Time]bool{}
		for range d / queue.Recheck {
			if _, err := s.reconciler.Reconcile(t.Context(), s.key); err != nil {
				t.Fatal(err)
			}
			s.advance(queue.Recheck)
		}
		return len(live.times)
	}
	if n := reads(10 * time.Minute); n > int(10*time.Minute/recheckLive)+1 || n < 10 {
		t.Errorf("%d reads in 10 minutes", n)
	}
	s.pod(2, func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	s.pod(0, onClaim)
	s.pod(1, onClaim)
	s.pod(2, onClaim)
	if reads(recheckLive); s.strategy() != "partition 2 CuresMember" {
		t.Errorf("after %s: %s", recheckLive, s.strategy())
	}
}

// countingReader has the times at which budgets were listed, as for each reading of a cluster.
type countingReader struct {
	client.Reader
	clock clock.PassiveClock
	times map[time.Time]bool
}

func (r *countingReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, is := list.(*policyv1.PodDisruptionBudgetList); is {
		r.times[r.clock.Now()] = true
	}
	return r.Reader.List(ctx, list, opts...)
}

// loseQuorum has two pods not be Ready since so long.
func (s *stage) loseQuorum(since time.Duration, edit func(*corev1.Pod)) {
	s.t.Helper()
	for i := range 2 {
		s.pod(i, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(controllertest.Now.Add(-since))}}
			edit(p)
		})
	}
	for i := range 3 {
		s.Put(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "store", Name: fmt.Sprintf("data-etcd-%d", i), UID: types.UID(fmt.Sprintf("claim-%d", i))}})
	}
}

// onClaim puts the data of a pod's etcd on a volume claim.
func onClaim(p *corev1.Pod) {
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + p.Name},
	}}}
	p.Spec.Containers[0].Command = []string{"etcd", "--data-dir=/data"}
	p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
}
