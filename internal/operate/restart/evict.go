// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// evict evicts a pod by name and UID, and reports whether there is such a pod. If there is none, or another one of that
// name, the member has been restarted. A budget or the eviction guard may refuse the eviction for now: then the error is
// temporary.
func (j *Job) evict(ctx context.Context, name string, uid types.UID, dry bool) (evicted bool, err error) {
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if dry {
		options.DryRun = []string{metav1.DryRunAll}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: j.Owner.Namespace, Name: name}}
	err = j.Kube.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{ObjectMeta: pod.ObjectMeta, DeleteOptions: options})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return false, nil
	case apierrors.IsTooManyRequests(err):
		return false, fmt.Errorf("the eviction of %s is refused for now: %w", name, err)
	case operate.SeveralBudgets(err):
		return false, operate.Halt("the eviction of %s fails: %v. Delete all but one of its disruption budgets", name, err)
	case err != nil:
		return false, fmt.Errorf("evict %s: %w", name, err)
	}
	return true, nil
}

// nodeLost returns why the node of a pod is lost, empty for one that is well or not known.
func (s *state) nodeLost(pod string) string {
	for _, m := range s.Members {
		if m.Pod == pod {
			return m.NodeLost
		}
	}
	return ""
}

// deletionStuck returns, for a pod whose deletion can't complete by itself, how to complete it. It is empty
// for all others.
func (s *state) deletionStuck(name string, now time.Time) string {
	at := slices.IndexFunc(s.pods, func(p *corev1.Pod) bool { return p.Name == name })
	if at < 0 {
		return ""
	}
	return podstate.DeletionStuck(s.pods[at], s.nodeLost(name), now)
}
