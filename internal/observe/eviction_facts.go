// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// Eviction is what is known of the eviction of a member's pod.
type Eviction struct {
	Facts eviction.Facts
	// Budget is the budget for the record, as it was read before everything else. It is nil if
	// none selects the members.
	Budget *policyv1.PodDisruptionBudget
	// Record is the annotation of Budget with this eviction, and without those that have no
	// effect any more.
	Record string
	// Blocked is true if the API server will refuse the eviction, by the pod's budget.
	Blocked bool
}

// OwnerOfPodNamed returns the cluster that a pod belongs to, by its name alone, and from memory:
// the pods of a StatefulSet have its name and a number. It returns false for any other name. The
// pod may have that name and belong to no cluster.
func (r *Reader) OwnerOfPodNamed(ctx context.Context, namespace, name string) (Owner, bool, error) {
	at := strings.LastIndexByte(name, '-')
	if at <= 0 || at == len(name)-1 || strings.Trim(name[at+1:], "0123456789") != "" {
		return Owner{}, false, nil
	}
	var sts appsv1.StatefulSet
	err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name[:at]}, &sts)
	if apierrors.IsNotFound(err) {
		return Owner{}, false, nil
	}
	if err != nil {
		return Owner{}, false, fmt.Errorf("observe StatefulSet %s/%s: %w", namespace, name[:at], err)
	}
	return r.OwnerOfStatefulSet(ctx, &sts)
}

// Eviction reads what the eviction rule must know, from the API server. The budgets are read
// first: an eviction that another replica records after that is seen as a conflict.
func (r *Reader) Eviction(ctx context.Context, key OwnerKey, pod string) (Eviction, error) {
	live := (&Reader{Reader: r.live(), Leases: r.Leases}).WithoutNodes()
	var budgets policyv1.PodDisruptionBudgetList
	if err := live.List(ctx, &budgets, client.InNamespace(key.Namespace)); err != nil {
		return Eviction{}, fmt.Errorf("list budgets of %s: %w", key, err)
	}
	owner, found, err := live.Owner(ctx, key)
	if err != nil || !found {
		return Eviction{}, cmp.Or(err, fmt.Errorf("%s is gone", key))
	}
	w, err := live.workload(ctx, owner)
	if err != nil {
		return Eviction{}, err
	}
	f := Facts{
		Cluster: policy.Cluster{Namespace: owner.Namespace, Name: owner.Name}, At: r.Leases.Clock.Now(),
		asked: max(int(owner.Replicas), w.replicas()), Confirmed: true,
	}
	if w.etcd != nil {
		err = live.druid(ctx, &w, &f)
	} else {
		live.statefulSet(ctx, &w, &f)
	}
	if err != nil {
		return Eviction{}, err
	}
	e := Eviction{}
	e.readBudgets(&w, &f, budgets.Items, pod)
	f.Largest = f.Budgets.Largest.Next(owner.sizeText(), len(f.Cluster.Members))
	f.resize()
	e.Facts.Cluster, e.Facts.Pod = f.Cluster, pod
	return e, nil
}

// readBudgets reads the evictions under way from the budgets that select members. The first of
// them is the one for the record.
func (e *Eviction) readBudgets(w *workload, f *Facts, budgets []policyv1.PodDisruptionBudget, pod string) {
	var kept []annotation.Eviction
	var ofPod []*policyv1.PodDisruptionBudget
	slices.SortFunc(budgets, func(a, b policyv1.PodDisruptionBudget) int { return cmp.Compare(a.Name, b.Name) })
	at := w.pod(pod)
	for i := range budgets {
		pdb := &budgets[i]
		f.Budgets.recordSize(w, annotation.DecodeBudgetRecord(pdb.Annotations, f.At))
		if w.selects(pdb) == 0 {
			continue
		}
		if at != nil && budgetSelector(pdb).Matches(labels.Set(at.Labels)) {
			ofPod = append(ofPod, pdb)
		}
		records := w.effective(annotation.ParseEvictions(pdb.Annotations[v1alpha1.EvictionsAnnotation], f.At), f)
		for _, r := range records {
			e.Facts.UnderWay = append(e.Facts.UnderWay, eviction.UnderWay{Pod: r.Pod, Age: f.At.Sub(r.At)})
		}
		if e.Budget == nil {
			e.Budget, kept = pdb, records
		}
	}
	e.Blocked = len(ofPod) == 1 && blocks(ofPod[0])
	if at != nil {
		e.Facts.Idle = at.DeletionTimestamp != nil || at.Status.Phase == corev1.PodPending || at.Status.Phase == corev1.PodSucceeded || at.Status.Phase == corev1.PodFailed
		kept = slices.DeleteFunc(kept, func(r annotation.Eviction) bool { return r.Pod == pod })
		e.Record = annotation.FormatEvictions(append(kept, annotation.Eviction{Pod: pod, UID: at.UID, At: f.At}))
	}
}

// effective returns the recorded evictions that may still happen: of pods that are there, are
// not being deleted, and were not created again.
func (w *workload) effective(all []annotation.Eviction, f *Facts) []annotation.Eviction {
	return slices.DeleteFunc(all, func(r annotation.Eviction) bool {
		pod := w.pod(r.Pod)
		return pod == nil || pod.UID != r.UID || pod.DeletionTimestamp != nil || f.At.Sub(r.At) >= eviction.Bound
	})
}

// pod returns the member's pod of a name, nil for none.
func (w *workload) pod(name string) *corev1.Pod {
	for _, p := range w.pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// blocks reports whether the eviction API refuses the eviction of a Ready pod by a budget
// (Kubernetes, pkg/registry/core/pod/storage/eviction.go, checkAndDecrement).
func blocks(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Status.ObservedGeneration < pdb.Generation || pdb.Status.DisruptionsAllowed <= 0
}
