// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// nodeTimeout is how long a new pod may find no node before the drain stops. Autoscalers add nodes within
// minutes.
const nodeTimeout = 5 * time.Minute

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

// isBack reports whether an evicted member is ready again. It returns its new pod if that waits for a node.
func (r *Run) isBack(ctx context.Context, m evicted) (back bool, waiting *corev1.Pod, err error) {
	facts, err := clusterFacts(ctx, r.Reader, m.owner, m.Pod)
	if err != nil {
		return false, nil, fmt.Errorf("observe %s: %w", m.owner, err)
	}
	if m.owner.WithoutStatefulSet() || m.owner.IsBeside(m.Pod) { // the new pod may have another name
		return readyCount(facts.Cluster) >= m.ready, nil, nil
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
	if pod.UID != m.uid && pod.Spec.NodeName == "" {
		waiting = &pod
	}
	return pod.UID != m.uid && ready, waiting, nil
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
