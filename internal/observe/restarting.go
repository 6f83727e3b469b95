// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// restartLimit is how long a rollout counts as under way after its last step, in addition to minReadySeconds. A
// rollout that makes no step for longer is stuck, and then no second member stops beside one that is down.
const restartLimit = 2 * time.Minute

// firstReadyLimit is how long after its creation a pod may become Ready for the first time. Later changes are
// those of a pod that becomes unready again and again: the pod does not show which one was the first.
const firstReadyLimit = 30 * time.Minute

// steps are the reasons of a held rollout that makes its next step without a user.
var steps = []string{policy.AllReady.Name(), rollout.UpdatedNotReady.Name(), rollout.HoldLimitPassed.Name()}

// addRestarting adds whether a rollout is restarting the members.
func (f *Facts) addRestarting(w *Workload) {
	for _, sts := range w.Sets() {
		if left := restartingFor(sts, w.Pods, f.At); left > 0 {
			f.Cluster.Restarting = true
			f.changeIn(left)
		}
	}
}

// restartingFor returns for how much longer the rollout of a StatefulSet counts as under way, 0 for none.
// Its last step is the last time that a pod was stopped or created, or that the pod of the step became Ready.
func restartingFor(sts *appsv1.StatefulSet, pods []*corev1.Pod, now time.Time) time.Duration {
	from, last, rolls := rollsFrom(sts, now)
	if !rolls {
		return 0
	}
	whole, remain := owner.OfStatefulSet(sts), false
	var step *corev1.Pod
	for _, pod := range pods {
		if ref := metav1.GetControllerOfNoCopy(pod); ref == nil || ref.UID != sts.UID {
			continue
		}
		if pod.DeletionTimestamp != nil {
			// At its DeletionTimestamp the grace period ends. A pod that stays longer is stuck, and is no step.
			last = later(last, earlier(now, pod.DeletionTimestamp.Time))
			continue
		}
		outdated := pod.Labels[appsv1.StatefulSetRevisionLabel] != sts.Status.UpdateRevision
		remain = remain || outdated && whole.Ordinal(pod.Name) >= from
		last = later(last, pod.CreationTimestamp.Time)
		if !outdated && (step == nil || pod.CreationTimestamp.After(step.CreationTimestamp.Time)) {
			step = pod
		}
	}
	last = later(last, firstReady(step))
	if !remain {
		return 0
	}
	limit := restartLimit + time.Duration(sts.Spec.MinReadySeconds)*time.Second
	return max(0, min(limit, last.Add(limit).Sub(now)))
}

// rollsFrom returns the lowest ordinal that a rollout restarts by itself, and when etcd-webhook released a
// pod of it last. A rollout that etcd-webhook holds makes its next step at any moment while the cluster is
// well. It is false if no pod restarts by itself.
func rollsFrom(sts *appsv1.StatefulSet, now time.Time) (from int, last time.Time, rolls bool) {
	value := annotation.RolloutValueOf(&sts.Spec.UpdateStrategy)
	record, held := annotation.DecodeRolloutRecord(sts.Annotations, now)
	switch {
	case sts.Status.UpdateRevision == "":
		return 0, time.Time{}, false
	case held && record.Value == value && slices.Contains(steps, record.Reason):
		return annotation.RolloutValueOf(&record.Author).Partition, record.Since, true
	}
	return value.Partition, time.Time{}, !value.OnDelete
}

// firstReady returns when the newest pod with the new template became Ready, if that can be the first time: then
// the StatefulSet's controller stops the next pod. Changes of other pods are no steps.
func firstReady(step *corev1.Pod) time.Time {
	if step == nil {
		return time.Time{}
	}
	c := podstate.Condition(step, corev1.PodReady)
	if c == nil || c.Status != corev1.ConditionTrue || c.LastTransitionTime.Sub(step.CreationTimestamp.Time) > firstReadyLimit {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
