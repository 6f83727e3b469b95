// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	// nodeTimeout is how long a new pod may find no node before the drain stops. Autoscalers add nodes within
	// minutes.
	nodeTimeout = 5 * time.Minute
	// startTimeout is how long a container of a new pod may fail to start: an image that can't be read, or an etcd
	// that ends again and again, for example because the data of its member was lost with the old pod. Members
	// whose names are not resolved yet end a few times within minutes.
	startTimeout = 10 * time.Minute
	// readyTimeout is how long a new pod may run without being ready. Within that time, a member restores a
	// backup, or copies all data from the leader.
	readyTimeout = 30 * time.Minute
)

// unschedulable returns why a pod finds no node, empty if it has not lasted.
func (r *Run) unschedulable(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	c := podstate.Condition(pod, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse || r.Clock.Since(c.LastTransitionTime.Time) < nodeTimeout {
		return ""
	}
	return c.Message
}

// notBack returns why an evicted member is not expected to come back by itself, empty while it may. pod is its new
// pod, nil if there is none.
func (r *Run) notBack(m evicted, pod *corev1.Pod) string {
	what := "pod " + m.Namespace + "/" + m.Pod
	if pod == nil {
		if r.Clock.Since(m.at) < startTimeout {
			return ""
		}
		return fmt.Sprintf("no new pod was created within %s after the eviction of %s", policy.Duration(startTimeout), what)
	}
	if pod.Name != m.Pod {
		what = "pod " + pod.Namespace + "/" + pod.Name + ", which replaces " + m.Pod + ","
	}
	limit, problem := readyTimeout, podstate.Of(pod)
	if podstate.CantStart(pod) {
		limit = startTimeout
	}
	since := pod.CreationTimestamp.Time
	if c := podstate.Condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionTrue {
		since = c.LastTransitionTime.Time
	}
	switch {
	case pod.Spec.NodeName == "" || r.Clock.Since(since) < limit:
		return ""
	case problem.State == "":
		return fmt.Sprintf("%s is Ready on node %s, but its member is not healthy after %s", what, pod.Spec.NodeName, policy.Duration(limit))
	}
	return fmt.Sprintf("%s has not become ready on node %s for %s (%s)", what, pod.Spec.NodeName, policy.Duration(limit), problem)
}

// replacement returns a member's pod that is not ready and that was created after the eviction, nil for none. The new pod
// of a Deployment has another name.
func (r *Run) replacement(ctx context.Context, m evicted) (*corev1.Pod, error) {
	pods, err := r.Reader.MemberPods(ctx, m.owner)
	if err != nil {
		return nil, fmt.Errorf("read the pods of %s: %w", m.owner, err)
	}
	pods = r.Reader.WithNodes(ctx, pods, r.Clock.Now())
	return m.replacedBy(pods), nil
}

// replacedBy returns the one of the pods that replaces a member's and is not ready, nil for none. It is none of those of
// other members that were there before the eviction: such a one may be unready because its node is lost.
func (m evicted) replacedBy(pods []*corev1.Pod) *corev1.Pod {
	at := slices.IndexFunc(pods, func(p *corev1.Pod) bool {
		return p.UID != m.uid && !m.others[p.UID] && p.DeletionTimestamp == nil && !podstate.Ready(p) && !p.CreationTimestamp.Time.Before(m.created)
	})
	if at < 0 {
		return nil
	}
	return pods[at]
}

// others returns the pods that a cluster has before an eviction, if the new pod of the member may have another name.
func (r *Run) others(ctx context.Context, m Member) (map[types.UID]bool, error) {
	if !m.Owner.WithoutStatefulSet() && !m.Owner.IsBeside(m.Pod.Name) {
		return nil, nil
	}
	pods, err := r.Reader.MemberPods(ctx, m.Owner)
	if err != nil {
		return nil, fmt.Errorf("read the pods of %s: %w", m.Owner, err)
	}
	others := map[types.UID]bool{}
	for _, p := range pods {
		others[p.UID] = true
	}
	return others, nil
}

// isBack reports whether an evicted member is ready again, or is not expected any more. It returns its new
// pod if it is not back, nil if there is none.
func (r *Run) isBack(ctx context.Context, m evicted) (back bool, next *corev1.Pod, err error) {
	if expected, err := r.isExpected(ctx, m); err != nil || !expected {
		return err == nil, nil, err
	}
	facts, err := clusterFacts(ctx, r.Reader, m.owner, m.Pod)
	if err != nil {
		return false, nil, fmt.Errorf("observe %s: %w", m.owner, err)
	}
	if m.owner.WithoutStatefulSet() || m.owner.IsBeside(m.Pod) { // the new pod may have another name
		if readyCount(facts.Cluster) >= m.ready {
			return true, nil, nil
		}
		next, err = r.replacement(ctx, m)
		return false, next, err
	}
	var pod corev1.Pod
	err = r.Kube.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: m.Pod}, &pod)
	if apierrors.IsNotFound(err) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, fmt.Errorf("read pod %s/%s: %w", m.Namespace, m.Pod, err)
	}
	ready := slices.ContainsFunc(facts.Cluster.Members, func(have policy.Member) bool {
		return have.Pod == m.Pod && have.Ready && have.PodReady
	})
	if pod.UID == m.uid {
		return false, nil, nil
	}
	return ready, &pod, nil
}

// isExpected reports whether the StatefulSet of an evicted member still creates its pod. It is true where
// that is not known.
func (r *Run) isExpected(ctx context.Context, m evicted) (bool, error) {
	name := m.owner.StatefulSetOf(m.Pod)
	if name == "" {
		return true, nil
	}
	var sts appsv1.StatefulSet
	found, err := r.Reader.Fetch(ctx, m.Namespace, name, &sts)
	if err != nil {
		return true, fmt.Errorf("read StatefulSet %s/%s: %w", m.Namespace, name, err)
	}
	if !found || sts.DeletionTimestamp != nil {
		return false, nil
	}
	at := owner.OfStatefulSet(&sts).Ordinal(m.Pod)
	return at >= 0 && at < owner.ReplicasOf(&sts), nil
}

func readyCount(c policy.Cluster) int {
	n := 0
	for _, m := range c.Members {
		if m.Ready && m.PodReady {
			n++
		}
	}
	return n
}

// readyMembers returns how many members of a cluster were ready.
func (s *State) readyMembers(o owner.Owner) int {
	at := slices.IndexFunc(s.Owners, func(have owner.Owner) bool { return have.Key() == o.Key() })
	if at < 0 {
		return 0
	}
	return readyCount(s.Facts.Clusters[at].Cluster)
}
