// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// memo is what was read for one decision: a namespace may have thousands of budgets over the same pods.
type memo struct {
	owners  map[types.NamespacedName]podOwner
	sharers map[owner.Key]sharerFacts
}

// podOwner is the owner of a pod, if one was found.
type podOwner struct {
	owner owner.Owner
	found bool
}

// sharerFacts are the facts of a cluster, and the members' pods that each of its Others selects.
type sharerFacts struct {
	Facts
	pods map[string][]string
}

// Remembering returns a Reader for one decision. It reads the facts of a cluster that shares budgets once, and
// finds the owner of a pod under a budget once. It is not safe for concurrent use.
func (r *Reader) Remembering() *Reader {
	out := *r
	out.memo = &memo{owners: map[types.NamespacedName]podOwner{}, sharers: map[owner.Key]sharerFacts{}}
	return &out
}

// ownerOfCounted returns what OwnerOfPod does for a pod under a budget.
func (r *Reader) ownerOfCounted(ctx context.Context, pod *corev1.Pod) (owner.Owner, bool, error) {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	if known, remembered := r.memo.owners[name]; remembered {
		return known.owner, known.found, nil
	}
	o, found, err := r.OwnerOfPod(ctx, pod)
	if err == nil {
		r.memo.owners[name] = podOwner{owner: o, found: found}
	}
	return o, found, err
}

// sharerFacts returns the facts of a cluster that shares a budget, as FactsAs does.
func (r *Reader) sharerFacts(ctx context.Context, o owner.Owner, as *policyv1.PodDisruptionBudget) (sharerFacts, error) {
	if known, remembered := r.memo.sharers[o.Key()]; remembered {
		return known, nil
	}
	facts, err := r.FactsAs(ctx, o, as)
	if err != nil {
		return sharerFacts{}, err
	}
	read := sharerFacts{Facts: facts, pods: map[string][]string{}}
	for _, other := range facts.Budgets.Others {
		read.pods[other.Name] = other.Pods
	}
	r.memo.sharers[o.Key()] = read
	return read, nil
}
