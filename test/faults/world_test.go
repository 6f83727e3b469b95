// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRunning checks when a member that the test stopped counts as running again: when another
// process of it is Ready, or when the fault has ended and the pod is Ready.
func TestRunning(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name              string
		container         string
		ready, ended, now bool
	}{
		{name: "not noticed yet", container: "first", ready: true},
		{name: "unready", container: "first"},
		{name: "another process starts", container: "second"},
		{name: "another process is Ready", container: "second", ready: true, now: true},
		{name: "the fault has ended", container: "first", ended: true},
		{name: "the fault has ended, Ready", container: "first", ended: true, ready: true, now: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := &world{
				judge: newJudge([]string{"main-0"}), facts: facts{disturbed: map[string]bool{}},
				instances: map[string]string{}, returning: map[string]bool{},
			}
			pod := podWith("first", true)
			w.judge.see(time.Unix(0, 0), []corev1.Pod{pod}, w.facts.disturbed)
			w.disturb(&pod)
			w.returning["main-0"] = row.ended
			pod = podWith(row.container, row.ready)
			w.judge.see(time.Unix(1, 0), []corev1.Pod{pod}, w.facts.disturbed)
			w.running([]corev1.Pod{pod})
			if w.facts.disturbed["main-0"] == row.now {
				t.Errorf("running: %t, want %t", !row.now, row.now)
			}
		})
	}
}

func podWith(container string, ready bool) corev1.Pod {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "main-0", UID: "uid"},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", ContainerID: container}},
		},
	}
}
