// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func anyChange[T client.Object]() predicate.TypedPredicate[T] {
	return watch.When(func(before, after T) bool { return before.GetResourceVersion() != after.GetResourceVersion() })
}

// budgetChanged also passes changes of the disruption controller's counts of pods. They
// may include pods that our cache doesn't hold, and maxUnavailable is counted from the
// expected pods.
func budgetChanged() predicate.TypedPredicate[*policyv1.PodDisruptionBudget] {
	return watch.When(func(before, after *policyv1.PodDisruptionBudget) bool {
		return watch.MetaChanged(before, after) || before.Status.CurrentHealthy != after.Status.CurrentHealthy ||
			before.Status.ExpectedPods != after.Status.ExpectedPods
	})
}

// podChanged passes changes of what the rules use of a member's pod: its identity,
// whether it is Ready, and since when its containers run.
func podChanged() predicate.TypedPredicate[*corev1.Pod] {
	return watch.When(func(before, after *corev1.Pod) bool {
		return watch.MetaChanged(before, after) || before.Spec.NodeName != after.Spec.NodeName ||
			before.Status.Phase != after.Status.Phase || ready(before) != ready(after) ||
			!slices.EqualFunc(before.Status.ContainerStatuses, after.Status.ContainerStatuses, sameRun) ||
			!slices.EqualFunc(before.Status.InitContainerStatuses, after.Status.InitContainerStatuses, sameRun)
	})
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func sameRun(a, b corev1.ContainerStatus) bool {
	if a.State.Running == nil || b.State.Running == nil {
		return a.State.Running == b.State.Running
	}
	return a.State.Running.StartedAt.Equal(&b.State.Running.StartedAt)
}

// leaseChanged ignores heartbeats that arrive in time. A late one needs no event: the
// cluster is reconciled when its facts are due to change.
func (b *Reconciler) leaseChanged() predicate.TypedPredicate[*coordinationv1.Lease] {
	return watch.When(func(before, after *coordinationv1.Lease) bool { return b.Reader.Leases.Significant(before, after) })
}

// etcdChanged ignores the updates by which etcd-druid confirms unchanged conditions every
// 15 seconds. It passes the first one after etcd-druid was unavailable, and those in which it begins or
// ends to act on the spec.
func etcdChanged() predicate.TypedPredicate[*druidv1alpha1.Etcd] {
	return watch.When(func(before, after *druidv1alpha1.Etcd) bool {
		return watch.MetaChanged(before, after) || owner.DruidActs(before) != owner.DruidActs(after) ||
			!slices.EqualFunc(before.Status.Conditions, after.Status.Conditions, func(a, b druidv1alpha1.Condition) bool {
				return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason &&
					b.LastUpdateTime.Sub(a.LastUpdateTime.Time) <= policy.EvidenceLimit
			})
	})
}
