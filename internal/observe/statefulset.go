// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// minReady is how long a pod whose readiness probe does not ask etcd must have been Ready before its
// member counts as ready. Without a probe, Kubernetes calls it Ready as soon as its process runs. etcd
// opens its port before it reads its data, and answers /livez without the other members, so probes that
// ask for no more are no better.
const minReady = 60 * time.Second

// statefulSet reads the members of a cluster that no operator keeps. There
// are no leases and no conditions: a member is as ready as its pod, and which
// of them leads or is a learner is not known.
func (r *Reader) statefulSet(ctx context.Context, w *Workload, f *Facts) {
	unprobed, answered := false, 0
	nodes := r.nodesOf(ctx, w.Pods)
	asks := sync.OnceValue(func() bool { return r.asks(ctx, w, f) })
	for _, pod := range w.Pods {
		m := memberOf(pod, nodes)
		m.Ready, m.ReadyFor = m.PodReady, f.readyFor(pod)
		var answer Answer
		if m.PodReady && !probed(pod) && asks() {
			f.changeIn(healthPoll)
			answer = r.Health.Answer(pod)
			f.Confirmed = f.Confirmed && !answer.Awaited
		}
		switch {
		case answer.Known:
			answered++
			m.Ready = answer.Healthy
		case !probed(pod):
			unprobed = true
			m.Ready = m.PodReady && f.readyLongEnough(pod)
			m.JustReady = m.PodReady && !m.Ready
			m.ReadyFor = max(0, m.ReadyFor-minReady)
		}
		f.addMember(m)
	}
	r.addJoined(ctx, w, f)
	if unprobed {
		f.note(reasons.NoReadinessProbe, "the etcd container of %s has no readiness probe that asks etcd for its quorum: a member counts as ready once its pod has run for %s", w.owner, policy.Duration(minReady))
	}
	if answered > 0 {
		f.note(reasons.MembersAsked, "the readiness of %s is what etcd answers to etcd-webhook, because its readiness probe does not ask etcd", policy.Count(answered, "member"))
	}
	f.Cluster.AllMembersReady = newCondition(policy.False, reasons.NotAllMembersReady)
	if f.ready() == max(w.owner.Members(), w.replicas()+len(w.owner.PodsBeside), len(w.Pods)) {
		f.Cluster.AllMembersReady = newCondition(policy.True, reasons.AllMembersReady)
	}
	f.Cluster.BackupReady = r.backupLease(ctx, w, f)
}

// ready counts the members that are ready.
func (f *Facts) ready() (n int) {
	for _, m := range f.Cluster.Members {
		n += count(m.Ready)
	}
	return n
}

// asks reports whether members are asked for their health. As long as that isn't known, they may hang.
func (r *Reader) asks(ctx context.Context, w *Workload, f *Facts) bool {
	if r.Health == nil {
		return false
	}
	asks, err := r.Health.Asks(ctx, w.owner)
	f.Confirmed = f.Confirmed && err == nil
	return asks
}

// probed reports whether the container that runs etcd has a readiness probe that may ask etcd for its
// quorum, which one that only opens a connection or asks for liveness does not. Where it is not known
// which container that is, any such probe counts.
func probed(pod *corev1.Pod) bool {
	if c := etcdconf.MemberOf(pod).Container; c != nil {
		return etcdconf.ShowsQuorum(c.ReadinessProbe)
	}
	return slices.ContainsFunc(containers.Of(&pod.Spec), func(c *corev1.Container) bool { return etcdconf.ShowsQuorum(c.ReadinessProbe) })
}

// readyLongEnough reports whether a pod has been Ready for minReady with the same processes, by its
// kubelet's clock.
func (f *Facts) readyLongEnough(pod *corev1.Pod) bool {
	since := podstate.Condition(pod, corev1.PodReady).LastTransitionTime.Time
	started, running := podstate.RunningSince(pod)
	if !running {
		return false
	}
	if started.After(since) {
		since = started
	}
	rest := minReady - f.At.Sub(since)
	if rest > 0 {
		f.changeIn(min(rest, minReady))
	}
	return rest <= 0
}
