// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// Eviction is what is known of the eviction of a member's pod.
type Eviction struct {
	Facts eviction.Facts
	// Leaving has the budget for the record, which was read before everything else.
	Leaving
	// Text is what the annotation of Budget becomes with this eviction.
	Text string
	// Blocked is true if the API server will refuse the eviction, by the pod's budgets.
	Blocked bool
}

// OwnerOfPodNamed returns the cluster that a pod belongs to, by its name alone, and from memory:
// the pods of a StatefulSet have its name and a number. It returns false for any other name. The
// pod may have that name and belong to no cluster.
func (r *Reader) OwnerOfPodNamed(ctx context.Context, namespace, name string) (owner.Owner, bool, error) {
	at := strings.LastIndexByte(name, '-')
	if at <= 0 || owner.OrdinalOf(name, name[:at], 0) < 0 {
		return owner.Owner{}, false, nil
	}
	var sts appsv1.StatefulSet
	err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name[:at]}, &sts)
	if apierrors.IsNotFound(err) {
		return owner.Owner{}, false, nil
	}
	if err != nil {
		return owner.Owner{}, false, fmt.Errorf("observe StatefulSet %s/%s: %w", namespace, name[:at], err)
	}
	return r.OwnerOfStatefulSet(ctx, &sts)
}

// Eviction reads what the eviction rule must know, from the API server: also which cluster the pod
// belongs to, since StatefulSets may have joined it that the cache doesn't have. uid is that of the
// pod that the client means, empty for any. The budgets are read first: an eviction that another
// replica records after that is seen as a conflict.
func (r *Reader) Eviction(ctx context.Context, namespace, pod string, uid types.UID) (Eviction, error) {
	live := (&Reader{Reader: r.live(), Leases: r.Leases}).WithoutNodes()
	var budgets policyv1.PodDisruptionBudgetList
	if err := live.List(ctx, &budgets, client.InNamespace(namespace)); err != nil {
		return Eviction{}, fmt.Errorf("list budgets of namespace %s: %w", namespace, err)
	}
	owner, found, err := live.OwnerOfPodNamed(ctx, namespace, pod)
	if err != nil || !found {
		return Eviction{}, cmp.Or(err, fmt.Errorf("the owner of pod %s/%s is gone", namespace, pod))
	}
	w, err := live.workload(ctx, owner)
	if err != nil {
		return Eviction{}, err
	}
	f := Facts{
		Cluster: policy.Cluster{Namespace: owner.Namespace, Name: owner.Name}, At: r.Leases.Clock.Now(),
		asked: max(int(owner.Replicas), w.replicas()), elsewhere: owner.MembersElsewhere(), listed: owner.MembersListed(), Confirmed: true,
	}
	if w.etcd != nil {
		err = live.druid(ctx, &w, &f)
	} else {
		live.statefulSet(ctx, &w, &f)
	}
	if err != nil {
		return Eviction{}, err
	}
	e := Eviction{Leaving: live.leaving(&w, budgets.Items)}
	at := w.pod(pod)
	e.readBudgets(&w, &f, budgets.Items, at)
	f.Largest = f.Budgets.Largest.Next(owner.SizeText(), len(f.Cluster.Members))
	f.resize()
	e.Facts.Cluster, e.Facts.Pod, e.Facts.UnderWay, e.Facts.Removed = f.Cluster, pod, e.underWay, w.removed()
	if at != nil {
		e.readPod(at, uid)
	}
	return e, nil
}

// readBudgets reads what budgets record of the cluster, and whether those of the pod refuse its
// eviction. at is the pod, nil for none.
func (e *Eviction) readBudgets(w *workload, f *Facts, budgets []policyv1.PodDisruptionBudget, at *corev1.Pod) {
	var ofPod []*policyv1.PodDisruptionBudget
	for i := range budgets {
		pdb := &budgets[i]
		f.Budgets.recordSize(w, annotation.DecodeBudgetRecord(pdb.Annotations, f.At))
		if at != nil && budgetSelector(pdb).Matches(labels.Set(at.Labels)) {
			ofPod = append(ofPod, pdb)
		}
	}
	// With two budgets it fails whatever they contain.
	e.Blocked = len(ofPod) > 1 || len(ofPod) == 1 && blocks(ofPod[0])
}

// readPod reads the pod that is to be evicted. uid is that of the pod that the client means, empty
// for any.
func (e *Eviction) readPod(at *corev1.Pod, uid types.UID) {
	ended := at.Status.Phase == corev1.PodPending || at.Status.Phase == corev1.PodSucceeded || at.Status.Phase == corev1.PodFailed
	e.Facts.Idle = ended || at.DeletionTimestamp != nil || uid != "" && at.UID != uid
	e.Text = e.Record(at)
}

// blocks reports whether the eviction API refuses the eviction of a Ready pod by a budget
// (Kubernetes, pkg/registry/core/pod/storage/eviction.go, checkAndDecrement).
func blocks(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Status.ObservedGeneration < pdb.Generation || pdb.Status.DisruptionsAllowed <= 0
}
