// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// The states of a pod that is not Ready, beside the reason why one of its containers waits.
const (
	PodTerminating = "terminating"
	PodPending     = "pending"
	PodUnready     = "unready"
)

// PodProblem is why a pod is not Ready, as far as its status shows.
type PodProblem struct {
	// State is short: output.StateOK for a Ready pod, PodPending, or the
	// reason why a container waits, such as CrashLoopBackOff.
	State string
	// Detail is the rest, and may be empty.
	Detail string
	// Container is the one that doesn't start, empty where that isn't the problem.
	Container string
}

// String is the state and the detail in one sentence.
func (p PodProblem) String() string {
	if p.Detail == "" {
		return p.State
	}
	return p.State + ": " + p.Detail
}

// crashing reports whether the problem is a container that ends again and again.
func (p PodProblem) crashing() bool { return strings.HasPrefix(p.State, "CrashLoop") }

// ProblemOf returns why a pod is not Ready.
func ProblemOf(pod *corev1.Pod) PodProblem {
	if pod.DeletionTimestamp != nil {
		return PodProblem{State: PodTerminating}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return PodProblem{State: PodPending, Detail: format.OneLine("not scheduled: " + c.Message)}
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
			return PodProblem{State: w.Reason, Detail: waitingDetail(&c), Container: c.Name}
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return PodProblem{State: output.StateOK}
		}
	}
	return PodProblem{State: PodUnready, Detail: unreadyDetail(pod)}
}

// waitingDetail describes a container that doesn't start.
func waitingDetail(c *corev1.ContainerStatus) string {
	text := "container " + c.Name
	switch {
	case c.LastTerminationState.Terminated != nil:
		text += " ended " + ended(c.LastTerminationState.Terminated)
	case c.State.Waiting.Message != "":
		text += ": " + format.OneLine(c.State.Waiting.Message)
	}
	if c.RestartCount > 0 {
		text += fmt.Sprintf(" (%s)", format.Plural(int(c.RestartCount), "restart", "restarts"))
	}
	return text
}

// unreadyDetail describes why a pod whose containers run is not Ready.
func unreadyDetail(pod *corev1.Pod) string {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return "container " + c.Name + " ended " + ended(t)
		}
	}
	var names []string
	for _, c := range pod.Status.ContainerStatuses {
		if !c.Ready {
			names = append(names, c.Name)
		}
	}
	switch {
	case len(names) == 1:
		return "the readiness probe of container " + names[0] + " fails"
	case len(names) > 1:
		return "the readiness probes of containers " + format.List(names) + " fail"
	case pod.Status.Phase != "" && pod.Status.Phase != corev1.PodRunning:
		return "its phase is " + string(pod.Status.Phase)
	}
	return "its pod is not Ready"
}

// ended is how a container ended.
func ended(t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("with exit code %d", t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
		text += " (" + t.Reason + ")"
	}
	if message := format.OneLine(t.Message); message != "" {
		text += ": " + message
	}
	return text
}

func podsReady(f *Facts) []Finding {
	if f.Pods.Err != nil {
		return []Finding{unknown("the pods", f.Pods.Err)}
	}
	if f.Size() == 0 && len(f.Pods.Value) == 0 {
		return notApplicable("the cluster is scaled to 0")
	}
	var found []Finding
	for _, pod := range f.Pods.Value {
		switch problem := ProblemOf(pod); {
		case observe.PodReady(pod):
		case problem.State == PodUnready && f.learns(pod.Name):
			found = append(found, about(Info, pod.Name, "", "is a learner, which is not Ready until it is promoted"))
		default:
			found = append(found, about(Failure, pod.Name, f.describe(pod), "%s", problem))
		}
	}
	if missing := f.Size() - len(f.Pods.Value); missing > 0 {
		found = append(found, failure(f.kubectl("describe statefulset "+f.Owner.StatefulSet), "%d of %d pods are not there", missing, f.Size()))
	}
	if len(found) > 0 {
		return found
	}
	return ok("%d of %d", len(f.Pods.Value), max(f.Size(), len(f.Pods.Value)))
}

// learns reports whether the member of a pod answers as a learner.
func (f *Facts) learns(pod string) bool {
	return slices.ContainsFunc(f.Responding(), func(m etcd.Member) bool { return m.Pod == pod && m.Learner })
}

// describe is the command that shows why a pod is not Ready.
func (f *Facts) describe(pod *corev1.Pod) string {
	if p := ProblemOf(pod); p.crashing() {
		return f.kubectl("logs " + pod.Name + " -c " + p.Container + " --previous")
	}
	return f.kubectl("describe pod " + pod.Name)
}

// Too many restarts are so many in all, with the last one within an hour.
const (
	manyRestarts = 3
	lately       = time.Hour
)

func restarts(f *Facts) []Finding {
	if f.Pods.Err != nil {
		return []Finding{unknown("the pods", f.Pods.Err)}
	}
	var found []Finding
	for _, pod := range f.Pods.Value {
		for _, s := range pod.Status.ContainerStatuses {
			last := s.LastTerminationState.Terminated
			if last == nil || s.RestartCount < manyRestarts || f.At.Sub(last.FinishedAt.Time) > lately {
				continue
			}
			found = append(found, warning(f.kubectl("logs "+pod.Name+" -c "+s.Name+" --previous"),
				"container %s of %s was started %d times over, the last time %s ago after %s (exit code %d)",
				s.Name, pod.Name, s.RestartCount, ago(f.At.Sub(last.FinishedAt.Time)), cmp.Or(last.Reason, "an end"), last.ExitCode))
		}
	}
	return found
}
