// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// evictBatch evicts the members of the first batch of a wave, and waits until their pods are gone.
func (r *Run) evictBatch(ctx context.Context, s *State, w drain.Wave) error {
	var gone []Member
	for _, e := range w.Batches[0] {
		m := s.member(e)
		if m == nil {
			continue
		}
		back := drain.Back{Eviction: e}
		if at := slices.IndexFunc(w.Back, func(b drain.Back) bool { return b.Eviction == e }); at >= 0 {
			back = w.Back[at]
		}
		others, err := r.others(ctx, *m)
		if err != nil {
			return err
		}
		ends, err := r.evictMember(ctx, *m)
		if err != nil {
			return err
		}
		if back.Reason.Name() != "" && !ends {
			r.away = append(r.away, evicted{Back: back, uid: m.Pod.UID, node: m.Pod.Spec.NodeName, owner: m.Owner, ready: s.readyMembers(m.Owner),
				at: r.Clock.Now(), created: m.Pod.CreationTimestamp.Time, others: others})
		}
		gone = append(gone, *m)
	}
	for _, m := range gone {
		if err := r.awaitGone(ctx, m); err != nil {
			return err
		}
	}
	r.report(ctx, gone)
	return nil
}

// report reports the evicted members, cluster by cluster.
func (r *Run) report(ctx context.Context, gone []Member) {
	for len(gone) > 0 {
		of := gone[0].Owner
		var pods []string
		for _, m := range gone {
			if m.Owner.Key() == of.Key() {
				pods = append(pods, m.Pod.Name)
			}
		}
		gone = slices.DeleteFunc(gone, func(m Member) bool { return m.Owner.Key() == of.Key() })
		r.Drained(ctx, of, pods)
	}
}

// member returns the member of an eviction.
func (s *State) member(e drain.Eviction) *Member {
	n := s.node(e.Node)
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if p := n.Members[i].Pod; p.Namespace == e.Namespace && p.Name == e.Pod {
			return &n.Members[i]
		}
	}
	return nil
}

// evictMember evicts a member as soon as the rule about evictions, the eviction guard and the budget
// allow it. It reports whether the namespace of the member is being deleted: then the API server forbids the
// eviction, and the member ends without one and does not come back.
func (r *Run) evictMember(ctx context.Context, m Member) (ends bool, err error) {
	what := m.Pod.Namespace + "/" + m.Pod.Name
	for {
		now, err := r.current(ctx, m)
		if err == nil && now == nil {
			r.Logf("%s is gone from %s", what, m.Pod.Spec.NodeName)
			return false, nil
		}
		var facts eviction.Facts
		if err == nil {
			facts, err = clusterFacts(ctx, r.Reader, m.Owner, m.Pod.Name)
		}
		if err == nil {
			facts.Idle = observe.Idle(now)
			if v := eviction.Evaluate(facts); !v.Allowed {
				err = apierrors.NewTooManyRequests(v.Message, 0)
			} else {
				err = r.Evict(ctx, m.Pod, false)
			}
		}
		switch {
		case err == nil:
			r.Logf("evicted %s from %s", what, m.Pod.Spec.NodeName)
			return false, nil
		case ctx.Err() != nil:
			return false, r.waiter.Ended(ctx)
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			r.Logf("namespace %s is being deleted, and %s with it", m.Pod.Namespace, m.Pod.Name)
			return true, nil
		case permanent(err):
			return false, err
		}
		r.waiter.Await(r.Logf, "pod %s may be evicted: %v", what, err)
		if err := r.waiter.Pause(ctx, r.Clock, pollInterval); err != nil {
			return false, err
		}
	}
}

// Evict evicts a pod by name and UID, so that one that was created since stays. It does nothing if the
// pod is gone.
func (j *Job) Evict(ctx context.Context, pod *corev1.Pod, dry bool) error {
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	if j.GracePeriod >= 0 {
		options.GracePeriodSeconds = new(int64(j.GracePeriod))
	}
	if dry {
		options.DryRun = []string{metav1.DryRunAll}
	}
	at := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	err := j.Kube.SubResource("eviction").Create(ctx, at, &policyv1.Eviction{ObjectMeta: at.ObjectMeta, DeleteOptions: options})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case operate.SeveralBudgets(err):
		return operate.Halt("the eviction of %s/%s fails: %v", pod.Namespace, pod.Name, err)
	case err != nil && !apierrors.IsTooManyRequests(err):
		return fmt.Errorf("evict %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return err
}

// current returns a member's pod as it is now, nil if it is gone or replaced by another one of its name.
// It may have started etcd since it was observed. It has the annotations that count, those of m.
func (r *Run) current(ctx context.Context, m Member) (*corev1.Pod, error) {
	var pod corev1.Pod
	err := r.Kube.Get(ctx, client.ObjectKeyFromObject(m.Pod), &pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read pod %s/%s: %w", m.Pod.Namespace, m.Pod.Name, err)
	case pod.UID != m.Pod.UID:
		return nil, nil
	}
	pod.Annotations = m.Pod.Annotations
	return &pod, nil
}

// awaitGone waits until a pod is gone, or another one has its name.
func (r *Run) awaitGone(ctx context.Context, m Member) error {
	for {
		now, err := r.current(ctx, m)
		switch {
		case ctx.Err() != nil:
			return r.waiter.Ended(ctx)
		case err != nil || now == nil:
			return err
		}
		r.waiter.Await(r.Logf, "pod %s/%s has stopped", m.Pod.Namespace, m.Pod.Name)
		if err := r.waiter.Pause(ctx, r.Clock, pollInterval); err != nil {
			return err
		}
	}
}
