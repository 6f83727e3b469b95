// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
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

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// Eviction is what is known of the eviction of a member's pod.
type Eviction struct {
	Facts eviction.Facts
	// Leaving has the object for the record. Its budgets were read before everything else, and its
	// StatefulSets before the pods.
	Leaving
	// Text is what the annotation of Holder becomes with this eviction.
	Text string
	// Blocked is true if the API server will refuse the eviction, by the pod's budgets.
	Blocked bool

	live liveCluster
	// uid is that of the pod that the client means, empty for any.
	uid types.UID
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
// belongs to. uid is that of the pod that the client means, empty for any.
func (r *Reader) Eviction(ctx context.Context, namespace, pod string, uid types.UID) (*Eviction, error) {
	live, err := r.liveCluster(ctx, namespace, fmt.Sprintf("pod %s/%s", namespace, pod), func(live *Reader) (owner.Owner, bool, error) {
		return live.OwnerOfPodNamed(ctx, namespace, pod)
	}, nil)
	if err != nil {
		return nil, err
	}
	e := &Eviction{live: live, uid: uid}
	e.Facts.Pod = pod
	e.judge()
	return e, nil
}

// Reread reads the holder of the record again, which another client wrote, and nothing else: what
// that client recorded counts beside the pods that were read before.
func (e *Eviction) Reread(ctx context.Context, r *Reader) error {
	return e.live.reread(ctx, r, e.Holder, e.judge)
}

// judge sets what follows from what was read.
func (e *Eviction) judge() {
	w := &e.live.w
	at := w.pod(e.Facts.Pod)
	e.Leaving = e.live.reader.Leaving(w, e.live.budgets)
	e.Facts.Cluster, e.Facts.UnderWay, e.Facts.Removed = e.live.sized().Cluster, e.UnderWay, w.removed()
	e.Blocked = e.blocked(at)
	if at != nil {
		e.readPod(at, e.uid)
	}
}

// blocked reports whether the budgets of a pod refuse its eviction. The pod may be nil.
func (e *Eviction) blocked(at *corev1.Pod) bool {
	var ofPod []*policyv1.PodDisruptionBudget
	for i := range e.live.budgets {
		pdb := &e.live.budgets[i]
		if at != nil && budgetSelector(pdb).Matches(labels.Set(at.Labels)) {
			ofPod = append(ofPod, pdb)
		}
	}
	// With two budgets it fails whatever they contain.
	return len(ofPod) > 1 || len(ofPod) == 1 && blocks(ofPod[0])
}

// readPod reads the pod that is to be evicted. uid is that of the pod that the client means, empty
// for any.
func (e *Eviction) readPod(at *corev1.Pod, uid types.UID) {
	e.Facts.Idle = Idle(at) || uid != "" && at.UID != uid
	e.Text = e.Record(at)
}

// blocks reports whether the eviction API refuses the eviction of a Ready pod by a budget
// (Kubernetes, pkg/registry/core/pod/storage/eviction.go, checkAndDecrement).
func blocks(pdb *policyv1.PodDisruptionBudget) bool {
	return pdb.Status.ObservedGeneration < pdb.Generation || pdb.Status.DisruptionsAllowed <= 0
}
