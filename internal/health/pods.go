// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

func podsReady(f *Facts) []Finding {
	if f.Pods.Err != nil {
		return []Finding{unknown("the pods", f.Pods.Err)}
	}
	if f.Size() == 0 && len(f.Pods.Value) == 0 {
		return notApplicable("the cluster is scaled to 0")
	}
	var found []Finding
	for _, pod := range f.Pods.Value {
		switch problem := podstate.Of(pod); {
		case podstate.Ready(pod):
		case problem.State == podstate.PodUnready && f.learns(pod.Name):
			found = append(found, about(Info, pod.Name, "", "is a learner, which is not Ready until it is promoted"))
		default:
			found = append(found, about(Failure, pod.Name, f.describe(pod), "%s", problem))
		}
	}
	if missing := f.Size() - len(f.Pods.Value); missing > 0 {
		found = append(found, f.missingPods(missing))
	}
	if len(found) > 0 {
		return found
	}
	return ok("%d of %d", len(f.Pods.Value), max(f.Size(), len(f.Pods.Value)))
}

// missingPods returns the finding about pods that are not there.
func (f *Facts) missingPods(missing int) Finding {
	if waitsForReady(f) && len(f.Pods.Value) > 0 {
		return failure(f.Command("check", "--only W009"), "%d of %d pods do not exist: the StatefulSet creates the next one when those before it are Ready, and Ready needs quorum", missing, f.Size())
	}
	return failure(f.kubectl("describe statefulset "+strings.Join(f.incomplete(), " ")), "%d of %d pods do not exist", missing, f.Size())
}

// incomplete returns the StatefulSets of the pods that are not there.
func (f *Facts) incomplete() []string {
	var sets []string
	for i := range int(f.Owner.Replicas) {
		name := f.Owner.PodName(i)
		if set := f.Owner.StatefulSetOf(name); f.pod(name) == nil && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	if len(sets) == 0 {
		return []string{f.Owner.StatefulSet}
	}
	return sets
}

// learns reports whether the member of a pod answers as a learner.
func (f *Facts) learns(pod string) bool {
	return slices.ContainsFunc(f.Responding(), func(m etcd.Member) bool { return m.Pod == pod && m.Learner })
}

// describe returns the command that shows why a pod is not Ready.
func (f *Facts) describe(pod *corev1.Pod) string {
	if p := podstate.Of(pod); p.Crashing() {
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
		for _, s := range containers.Statuses(pod) {
			last := s.LastTerminationState.Terminated
			if last == nil || s.RestartCount < manyRestarts || f.At.Sub(last.FinishedAt.Time) > lately {
				continue
			}
			found = append(found, warning(f.kubectl("logs "+pod.Name+" -c "+s.Name+" --previous"),
				"container %s of %s has restarted %d times, the last time %s ago after %s (exit code %d)",
				s.Name, pod.Name, s.RestartCount, format.Age(f.At.Sub(last.FinishedAt.Time)), cmp.Or(last.Reason, "an end"), last.ExitCode))
		}
	}
	return found
}
