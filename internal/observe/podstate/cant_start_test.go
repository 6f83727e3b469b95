// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestCantStart(t *testing.T) {
	t.Parallel()
	waits := func(reason string, exit int32) corev1.PodStatus {
		c := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
		if exit >= 0 {
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: exit}
		}
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c}}
	}
	initial := func(s corev1.PodStatus) corev1.PodStatus {
		return corev1.PodStatus{InitContainerStatuses: s.ContainerStatuses}
	}
	unschedulable := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
	running := corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}
	for name, row := range map[string]struct {
		status corev1.PodStatus
		want   bool
	}{
		"nothing is known":             {corev1.PodStatus{}, false},
		"it runs":                      {running, false},
		"it is created":                {waits("ContainerCreating", -1), false},
		"its init containers run":      {waits("PodInitializing", -1), false},
		"no node fits":                 {unschedulable, true},
		"no image":                     {waits("ImagePullBackOff", -1), true},
		"no image of init":             {initial(waits("ErrImagePull", -1)), true},
		"no ConfigMap":                 {waits("CreateContainerConfigError", -1), true},
		"it ends by itself":            {waits("CrashLoopBackOff", 1), true},
		"it panics":                    {waits("CrashLoopBackOff", 2), true},
		"its liveness probe ends it":   {waits("CrashLoopBackOff", 137), false},
		"and it handles the signal":    {waits("CrashLoopBackOff", 0), false},
		"and it does not":              {waits("CrashLoopBackOff", 143), false},
		"the end before is not known":  {waits("CrashLoopBackOff", -1), false},
		"init of a liveness-like kill": {initial(waits("CrashLoopBackOff", 137)), false},
	} {
		if got := Unpulled(&corev1.Pod{Status: row.status}); got != (name == "no image") {
			t.Errorf("%s: the image can't be pulled: %t", name, got)
		}
		if got := CantStart(&corev1.Pod{Status: row.status}); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
