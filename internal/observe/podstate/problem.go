// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The states of a pod that is not Ready, beside the reason why one of its containers waits.
const (
	PodTerminating = "terminating"
	PodPending     = "pending"
	PodUnready     = "unready"
)

// Problem is why a pod is not Ready, as far as Kubernetes knows. The zero value means that the
// pod is Ready.
type Problem struct {
	// State is short: PodTerminating, PodPending, PodUnready, or the reason why a container waits,
	// such as CrashLoopBackOff.
	State string
	// Detail is the rest, and may be empty.
	Detail string
	// Container is the one that doesn't start, empty where that isn't the problem.
	Container string
}

// String returns the state and the detail in one sentence.
func (p Problem) String() string {
	if p.Detail == "" {
		return p.State
	}
	return p.State + ": " + p.Detail
}

// Crashing reports whether the problem is a container that ends again and again.
func (p Problem) Crashing() bool { return strings.HasPrefix(p.State, "CrashLoop") }

// Of returns why a pod is not Ready.
func Of(pod *corev1.Pod) Problem {
	if pod.DeletionTimestamp != nil {
		return Problem{State: PodTerminating}
	}
	if c := Condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return Problem{State: PodPending, Detail: format.OneLine("not scheduled: " + c.Message)}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
			return Problem{State: w.Reason, Detail: waitingDetail(&c), Container: c.Name}
		}
	}
	if Ready(pod) {
		return Problem{}
	}
	return Problem{State: PodUnready, Detail: unreadyDetail(pod)}
}

// waitingDetail describes a container that doesn't start.
func waitingDetail(c *corev1.ContainerStatus) string {
	text := "container " + c.Name
	switch {
	case c.LastTerminationState.Terminated != nil:
		text += " ended with " + Ended(c.LastTerminationState.Terminated)
	case c.State.Waiting.Message != "":
		text += ": " + format.OneLine(c.State.Waiting.Message)
	}
	if c.RestartCount > 0 {
		text += fmt.Sprintf(" (%s)", policy.Plural(int(c.RestartCount), "restart", "restarts"))
	}
	return text
}

// unreadyDetail describes why a pod with containers that run is not Ready.
func unreadyDetail(pod *corev1.Pod) string {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return "container " + c.Name + " ended with " + Ended(t)
		}
	}
	for _, why := range []string{initializing(pod), failingProbes(pod), closedGate(pod)} {
		if why != "" {
			return why
		}
	}
	if c := Condition(pod, corev1.PodReady); c != nil && c.Message != "" {
		return format.OneLine(c.Message)
	}
	if pod.Status.Phase != "" && pod.Status.Phase != corev1.PodRunning {
		return "its phase is " + string(pod.Status.Phase)
	}
	return "its pod is not Ready"
}

// initializing returns the init container that still runs, or the native sidecar that is not ready.
// It is empty where all are done.
func initializing(pod *corev1.Pod) string {
	for _, c := range pod.Status.InitContainerStatuses {
		sidecar := slices.ContainsFunc(pod.Spec.InitContainers, func(s corev1.Container) bool {
			return s.Name == c.Name && containers.Sidecar(&s)
		})
		switch {
		case c.State.Running == nil:
		case sidecar && c.Started != nil && !*c.Started:
			return "the startup probe of sidecar " + c.Name + " has not passed yet, and the containers after it wait" + before(&c)
		case sidecar && !c.Ready:
			return "the readiness probe of sidecar " + c.Name + " fails" + before(&c)
		case !sidecar:
			return "init container " + c.Name + " runs, and the containers after it wait"
		}
	}
	return ""
}

// failingProbes returns the containers with a probe that doesn't pass, empty for none.
func failingProbes(pod *corev1.Pod) string {
	var (
		unready []string
		earlier strings.Builder
	)
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil && c.Started != nil && !*c.Started {
			return "the startup probe of container " + c.Name + " has not passed yet" + before(&c)
		}
		if !c.Ready {
			unready = append(unready, c.Name)
			earlier.WriteString(before(&c))
		}
	}
	switch len(unready) {
	case 0:
		return ""
	case 1:
		return "the readiness probe of container " + unready[0] + " fails" + earlier.String()
	}
	return "the readiness probes of containers " + policy.List(unready) + " fail" + earlier.String()
}

// before returns how a container that was restarted ended, in parentheses.
func before(c *corev1.ContainerStatus) string {
	t := c.LastTerminationState.Terminated
	if t == nil || t.ExitCode == 0 {
		return ""
	}
	return " (before, " + c.Name + " ended with " + Ended(t) + ")"
}

// closedGate returns the first readiness gate that is not True, empty for none.
func closedGate(pod *corev1.Pod) string {
	for _, gate := range pod.Spec.ReadinessGates {
		switch c := Condition(pod, gate.ConditionType); {
		case c == nil:
			return fmt.Sprintf("nothing has set the condition of its readiness gate %s", gate.ConditionType)
		case c.Status != corev1.ConditionTrue:
			return strings.TrimSuffix(format.OneLine(fmt.Sprintf("its readiness gate %s is %s: %s", gate.ConditionType, c.Status, c.Message)), ":")
		}
	}
	return ""
}

// Ended returns how a container ended: its exit code, with the reason and the end of its log where Kubernetes has it.
func Ended(t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("exit code %d", t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
		text += " (" + t.Reason + ")"
	}
	if message := format.OneLine(t.Message); message != "" {
		text += ": " + message
	}
	return text
}
