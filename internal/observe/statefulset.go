// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// probation is how long a pod without a readiness probe must have been Ready:
// it is called Ready as soon as its process is there.
const probation = 60 * time.Second

// statefulSet reads the members of a cluster that no operator keeps. There
// are no leases and no conditions: a member is as ready as its pod, and which
// of them leads or is a learner is not known.
func (r *Reader) statefulSet(ctx context.Context, w *workload, f *Facts) {
	ready, unprobed := 0, false
	for _, pod := range w.pods {
		m := r.member(ctx, pod)
		m.Ready = m.PodReady
		if !probed(pod) {
			unprobed = true
			m.Ready = m.PodReady && f.served(pod)
		}
		if m.Ready {
			ready++
		}
		f.Cluster.Members = append(f.Cluster.Members, m)
	}
	if unprobed {
		f.note("NoReadinessProbe", "the etcd container of %s has no readiness probe: a member counts as ready once its pod has run for %s; a probe on etcd's /readyz would tell", w.owner, probation)
	}
	f.Cluster.AllMembersReady = policy.Condition{
		Status: policy.False, Reason: "NotAllMembersReady",
	}
	if ready == max(int(w.owner.Replicas), w.replicas(), len(w.pods)) {
		f.Cluster.AllMembersReady = policy.Condition{Status: policy.True, Reason: "AllMembersReady"}
	}
	f.Cluster.BackupReady = r.backupLease(ctx, w, f)
}

// probed says whether a container that runs etcd has a readiness probe. Where
// none is recognised, the image decides what runs, and any probe will do.
func probed(pod *corev1.Pod) bool {
	probes, recognised := false, false
	for _, c := range pod.Spec.Containers {
		etcd := etcdconf.RunsEtcd(&corev1.PodSpec{Containers: []corev1.Container{c}})
		recognised = recognised || etcd
		if etcd && c.ReadinessProbe != nil {
			return true
		}
		probes = probes || c.ReadinessProbe != nil
	}
	return !recognised && probes
}

// served says whether a pod has been Ready, with the same processes, for the
// whole probation. The times are its kubelet's.
func (f *Facts) served(pod *corev1.Pod) bool {
	since := podCondition(pod, corev1.PodReady).LastTransitionTime.Time
	started, running := runningSince(pod)
	if !running {
		return false
	}
	if started.After(since) {
		since = started
	}
	rest := probation - f.At.Sub(since)
	if rest > 0 {
		f.changeIn(min(rest, probation))
	}
	return rest <= 0
}
