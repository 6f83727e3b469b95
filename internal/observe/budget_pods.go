// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// selects counts the members that a budget selects.
func (w *Workload) selects(pdb *policyv1.PodDisruptionBudget) int {
	return matching(pdb, w.memberLabels())
}

// matching counts the sets of labels that a budget selects.
func matching(pdb *policyv1.PodDisruptionBudget, all []labels.Set) int {
	selector := budgetSelector(pdb)
	n := 0
	for _, set := range all {
		if selector.Matches(set) {
			n++
		}
	}
	return n
}

// SelectsOrphan reports whether a budget selects a pod that runs etcd, is not being deleted, and
// belongs to no cluster. A pod that may run etcd counts if its StatefulSet, which may have declared
// it, is gone.
func (r *Reader) SelectsOrphan(ctx context.Context, pdb *policyv1.PodDisruptionBudget) (bool, error) {
	pods, err := podsOfBudget(ctx, r.Reader, pdb)
	if err != nil {
		return false, err
	}
	for i := range pods {
		if pods[i].DeletionTimestamp != nil {
			continue
		}
		pod, standing, err := r.declaredBySet(ctx, &pods[i])
		if err != nil {
			return false, err
		}
		if evidence := etcdconf.MemberOf(pod).Evidence; evidence < etcdconf.Hinted || standing && evidence < etcdconf.Shown {
			continue
		}
		if _, owned, err := r.OwnerOfPod(ctx, &pods[i]); err != nil || !owned {
			return err == nil, err
		}
	}
	return false, nil
}

// podsOfBudget lists the pods that a budget selects. They are objects of the cache, which must not
// be changed.
func podsOfBudget(ctx context.Context, from client.Reader, pdb *policyv1.PodDisruptionBudget) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := from.List(ctx, &pods, client.InNamespace(pdb.Namespace), client.MatchingLabelsSelector{Selector: budgetSelector(pdb)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list pods of budget %s/%s: %w", pdb.Namespace, pdb.Name, err)
	}
	return pods.Items, nil
}

// budgetSelector returns the selector of a budget as the eviction API reads it. An empty one selects
// all pods of the namespace (before policy/v1 it selected none), nil and an invalid one select none.
func budgetSelector(pdb *policyv1.PodDisruptionBudget) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// expected returns from how many pods the disruption controller subtracts maxUnavailable: the
// replicas, or, where the budget selects other pods too, the number in its status. The controller
// doesn't expect pods without a controller, though it counts them as healthy (Kubernetes,
// pkg/controller/disruption/disruption.go, getExpectedPodCount).
func (b *Budgets) expected(replicas int) int {
	if b.Managed == nil || b.NonMemberPods == 0 || b.Managed.Value.Field != annotation.MaxUnavailable || b.Managed.Status.ObservedGeneration == 0 {
		return replicas
	}
	return int(b.Managed.Status.ExpectedPods)
}
