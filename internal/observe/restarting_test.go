// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// rolledPod is a pod of a rollout. Its times are how long ago each was.
type rolledPod struct {
	updated, unready bool
	created, changed time.Duration
	// deleted is when the grace period ends. It is negative in the future, and 0 for a pod that is not deleted.
	deleted time.Duration
}

// TestRestartingFor: a rollout counts as under way for two minutes after each step, and what isn't one of
// its steps does not keep it.
func TestRestartingFor(t *testing.T) {
	t.Parallel()
	const day, flip = 24 * time.Hour, 10 * time.Second
	old := rolledPod{created: day, changed: day}
	for _, row := range []struct {
		name string
		pods []rolledPod
		want time.Duration
	}{
		{"no step yet", []rolledPod{old, old, old}, 0},
		{"a pod was created", []rolledPod{old, old, {updated: true, unready: true, created: 30 * time.Second, changed: 30 * time.Second}}, 90 * time.Second},
		{"it became Ready", []rolledPod{old, old, {updated: true, created: 5 * time.Minute, changed: time.Minute}}, time.Minute},
		{"it is not Ready for longer", []rolledPod{old, old, {updated: true, unready: true, created: 5 * time.Minute, changed: 5 * time.Minute}}, 0},
		{"all are updated", []rolledPod{{updated: true, created: time.Minute, changed: flip}}, 0},
		{"a pod stops", []rolledPod{old, old, {created: day, changed: day, deleted: -20 * time.Second}}, 2 * time.Minute},
		{"a pod stopped a minute ago", []rolledPod{old, old, {created: day, changed: day, deleted: time.Minute}}, time.Minute},
		{"a pod stays Terminating", []rolledPod{old, old, {created: day, changed: day, deleted: 3 * time.Minute}}, 0},
		{"an outdated pod changes often", []rolledPod{{created: day, changed: flip}, old, {updated: true, created: time.Hour, changed: time.Hour}}, 0},
		{"an updated pod of an earlier step changes often", []rolledPod{old, {updated: true, created: 10 * time.Minute, changed: 5 * time.Minute}, {updated: true, created: 20 * time.Minute, changed: flip}}, 0},
		{"the pod of the step becomes unready", []rolledPod{old, old, {updated: true, unready: true, created: 20 * time.Minute, changed: flip}}, 0},
		{"the pod of the step becomes Ready again and again", []rolledPod{old, old, {updated: true, created: time.Hour, changed: flip}}, 0},
	} {
		now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		sts := observetest.EtcdSet(fmt.Sprintf("main/%d", len(row.pods)))
		sts.Spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		sts.Status.UpdateRevision = "new"
		var pods []*corev1.Pod
		for i, p := range row.pods {
			pods = append(pods, p.pod(sts, i, now))
		}
		if got := restartingFor(sts, pods, now); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func (p rolledPod) pod(sts *appsv1.StatefulSet, ordinal int, now time.Time) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: sts.Namespace, Name: fmt.Sprintf("%s-%d", sts.Name, ordinal), CreationTimestamp: metav1.NewTime(now.Add(-p.created)),
		Labels:          map[string]string{appsv1.StatefulSetRevisionLabel: "old"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
	}}
	if p.updated {
		pod.Labels[appsv1.StatefulSetRevisionLabel] = "new"
	}
	if p.deleted != 0 {
		pod.DeletionTimestamp = new(metav1.NewTime(now.Add(-p.deleted)))
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-p.changed))}
	if p.unready {
		ready.Status = corev1.ConditionFalse
	}
	pod.Status.Conditions = []corev1.PodCondition{ready}
	return pod
}
