// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestProblemOf has one row for each reason that Kubernetes knows.
func TestProblemOf(t *testing.T) {
	t.Parallel()
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Message: message})
		}
	}
	container := func(s corev1.ContainerStatus) func(*corev1.Pod) {
		s.Name = "etcd"
		return func(p *corev1.Pod) { p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s) }
	}
	always := corev1.ContainerRestartPolicyAlways
	initial := func(policy *corev1.ContainerRestartPolicy, s corev1.ContainerStatus) func(*corev1.Pod) {
		s.Name = "first"
		return func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "first", RestartPolicy: policy}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{s}
		}
	}
	gate := func(p *corev1.Pod) {
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	crashed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "panic: no\nspace"}}
	waits := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	for name, row := range map[string]struct {
		with []func(*corev1.Pod)
		want string
	}{
		"Ready":         {[]func(*corev1.Pod){condition(corev1.PodReady, corev1.ConditionTrue, "")}, ""},
		"being deleted": {[]func(*corev1.Pod){func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }}, "terminating"},
		"not scheduled": {[]func(*corev1.Pod){condition(corev1.PodScheduled, corev1.ConditionFalse, "0/3 nodes are\navailable")}, "pending: not scheduled: 0/3 nodes are available"},
		"crash loop": {[]func(*corev1.Pod){container(corev1.ContainerStatus{State: waits("CrashLoopBackOff", "back-off"), LastTerminationState: crashed, RestartCount: 2})},
			"CrashLoopBackOff: container etcd ended with exit code 1: panic: no space (2 restarts)"},
		"no image":        {[]func(*corev1.Pod){container(corev1.ContainerStatus{State: waits("ErrImagePull", "not found")})}, "ErrImagePull: container etcd: not found"},
		"ended":           {[]func(*corev1.Pod){container(corev1.ContainerStatus{State: crashed})}, "unready: container etcd ended with exit code 1: panic: no space"},
		"readiness probe": {[]func(*corev1.Pod){container(corev1.ContainerStatus{State: running})}, "unready: the readiness probe of container etcd fails"},
		"restarted":       {[]func(*corev1.Pod){container(corev1.ContainerStatus{State: running, LastTerminationState: crashed})}, "unready: the readiness probe of container etcd fails (before, etcd ended with exit code 1: panic: no space)"},
		"startup probe":   {[]func(*corev1.Pod){container(corev1.ContainerStatus{State: running, Started: new(false)})}, "unready: the startup probe of container etcd has not passed yet"},
		"init container":  {[]func(*corev1.Pod){initial(nil, corev1.ContainerStatus{State: running}), container(corev1.ContainerStatus{State: waits("PodInitializing", "")})}, "unready: init container first runs, and the containers after it wait"},
		"sidecar starts":  {[]func(*corev1.Pod){initial(&always, corev1.ContainerStatus{State: running, Started: new(false)})}, "unready: the startup probe of sidecar first has not passed yet, and the containers after it wait"},
		"sidecar starts again": {[]func(*corev1.Pod){initial(&always, corev1.ContainerStatus{State: running, Started: new(false), LastTerminationState: crashed})},
			"unready: the startup probe of sidecar first has not passed yet, and the containers after it wait (before, first ended with exit code 1: panic: no space)"},
		"sidecar not ready": {[]func(*corev1.Pod){initial(&always, corev1.ContainerStatus{State: running, Started: new(true)}), container(corev1.ContainerStatus{State: running, Ready: true})}, "unready: the readiness probe of sidecar first fails"},
		"sidecar restarted": {[]func(*corev1.Pod){initial(&always, corev1.ContainerStatus{State: running, Started: new(true), LastTerminationState: crashed}), container(corev1.ContainerStatus{State: running, Ready: true})},
			"unready: the readiness probe of sidecar first fails (before, first ended with exit code 1: panic: no space)"},
		"gate never set":   {[]func(*corev1.Pod){gate, container(corev1.ContainerStatus{State: running, Ready: true})}, "unready: nothing has set the condition of its readiness gate example.com/lb"},
		"gate is false":    {[]func(*corev1.Pod){gate, condition("example.com/lb", corev1.ConditionFalse, "no target")}, "unready: its readiness gate example.com/lb is False: no target"},
		"gate without why": {[]func(*corev1.Pod){gate, condition("example.com/lb", corev1.ConditionFalse, "")}, "unready: its readiness gate example.com/lb is False"},
		"only a message":   {[]func(*corev1.Pod){condition(corev1.PodReady, corev1.ConditionFalse, "the node is lost")}, "unready: the node is lost"},
		"only a phase":     {[]func(*corev1.Pod){func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }}, "unready: its phase is Failed"},
		"nothing":          {nil, "unready: its pod is not Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{}
			for _, with := range row.with {
				with(pod)
			}
			if got := Of(pod).String(); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
