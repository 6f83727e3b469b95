// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

const (
	// newClaims is how long after its volume claims a pod is created that may be the first one of a new member, and how
	// long after that it is Ready. A pod that is created again later, or is Ready again, has the data of a member that was there.
	newClaims = 10 * time.Minute
	// sameTime is by how much the claims of members differ that were created together.
	sameTime = time.Minute
	// joinedLimit is how long after it became Ready a pod is not asked any more whether its member has joined.
	joinedLimit = time.Hour
)

// readyFor returns for how long a pod has been Ready.
func (f *Facts) readyFor(pod *corev1.Pod) time.Duration {
	ready := podstate.Condition(pod, corev1.PodReady)
	if ready == nil {
		return 0
	}
	return max(0, f.At.Sub(ready.LastTransitionTime.Time))
}

// addJoined adds which members may have joined the cluster. Pods don't show which of them are learners.
func (r *Reader) addJoined(ctx context.Context, w *Workload, f *Facts) {
	f.joinedAt = w.joinedAt()
	read := map[string]time.Time{}
	created := func(pod *corev1.Pod) time.Time { // each claim is read once
		if _, is := read[pod.Name]; !is {
			read[pod.Name] = r.claimsCreated(ctx, w, pod)
		}
		return read[pod.Name]
	}
	for i := range f.Cluster.Members {
		m := &f.Cluster.Members[i]
		pod := w.pod(m.Pod)
		if !m.Ready || pod == nil {
			continue
		}
		m.Joined = m.ReadyFor < joinedLimit && replaced(pod, w.Pods, created)
	}
}

// replaced reports whether a pod is the first one with its volume claims, and those of another member are older: its
// member began without data. A claim that can't be read shows nothing. created returns when the last of a pod's claims was
// created.
func replaced(pod *corev1.Pod, pods []*corev1.Pod, created func(*corev1.Pod) time.Time) bool {
	ready := podstate.Condition(pod, corev1.PodReady)
	if ready == nil || ready.LastTransitionTime.Sub(pod.CreationTimestamp.Time) > newClaims {
		return false
	}
	since := created(pod)
	if since.IsZero() || pod.CreationTimestamp.Sub(since) > newClaims {
		return false
	}
	return slices.ContainsFunc(pods, func(other *corev1.Pod) bool {
		at := created(other)
		return !at.IsZero() && since.Sub(at) > sameTime
	})
}

// claimsCreated returns when the last one of a pod's volume claims was created, zero without any.
func (r *Reader) claimsCreated(ctx context.Context, w *Workload, pod *corev1.Pod) (last time.Time) {
	from := r.Reader
	if r.names != nil {
		from = r.names // a claim is older than its pod, so the cache has it
	}
	sts, _ := w.ordinalOf(pod.Name)
	if sts == nil {
		return last
	}
	for _, c := range owner.OfStatefulSet(sts).Claims {
		var claim corev1.PersistentVolumeClaim
		if err := from.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: c.Template + "-" + pod.Name}, &claim); err == nil {
			last = later(last, claim.CreationTimestamp.Time)
		}
	}
	return last
}

// joinedAt returns how many members were there before each of the pods: a StatefulSet adds ordinals. In a cluster of
// several workloads, the pods that were created last are those that joined.
func (w *Workload) joinedAt() map[string]int {
	pods := slices.Clone(w.Pods)
	at := map[string]int{}
	if !w.owner.WithoutStatefulSet() && !w.owner.Spans() && len(w.owner.PodsBeside) == 0 {
		for _, pod := range pods {
			at[pod.Name] = w.owner.Ordinal(pod.Name)
		}
		return at
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Compare(a.CreationTimestamp.Unix(), b.CreationTimestamp.Unix())
	})
	for i, pod := range pods {
		at[pod.Name] = i
	}
	return at
}

// addGrown adds that the members beyond the size from before the cluster grew have joined.
func (f *Facts) addGrown() {
	for i := range f.Cluster.Members {
		m := &f.Cluster.Members[i]
		at, known := f.joinedAt[m.Pod]
		m.Joined = m.Joined || known && f.Largest.From > 0 && at >= f.Largest.From
	}
}

// Settle ends that members count as joined since the cluster grew, after all of them have been ready for settle.
func (f *Facts) Settle(settle time.Duration) {
	grown := f.Largest.From > 0 && len(f.Cluster.Members) >= f.Largest.N
	for _, m := range f.Cluster.Members {
		grown = grown && (!m.Joined || m.Ready && m.ReadyFor >= settle)
	}
	if grown {
		f.Largest.From = 0
	}
}

// neverGrew reports whether a StatefulSet is as it was created, so that no member has joined, or an operator
// keeps learners' pods unready.
func (w *Workload) neverGrew() bool {
	return w.etcd != nil || w.StatefulSet != nil && len(w.rest) == 0 && w.StatefulSet.Generation == 1
}
