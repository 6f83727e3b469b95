// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package unschedulable has the reconciler of members that wait for a node without success.
package unschedulable

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Reconciler handles members whose pods admission has spread. It records admission's
// notes on them as Events. If a pod waits for a node with a required term that admission
// would not require now, it deletes the pod: the member's volume was bound where the term
// can't be met, the policy has changed, or the nodes have been others for as long as a node
// takes to come. The StatefulSet then recreates the pod.
//
// The new pod has the terms that admission decides then. If it has the same term again,
// another webhook changes the pod after admission, and it is not deleted again.
type Reconciler struct {
	Client   Deleter
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock

	// announced holds the pods whose notes were recorded as Events.
	announced memory.Keyed[client.ObjectKey, types.UID]
	// unruled holds since when no policy has required terms of pods that wait.
	unruled memory.Keyed[client.ObjectKey, time.Time]
	// nodes holds which nodes pods that wait may use, and since when.
	nodes memory.Keyed[client.ObjectKey, seenNodes]
	// deleted holds for which terms pods were deleted, until a pod of that name runs.
	deleted memory.Keyed[client.ObjectKey, deletion]
}

// Deleter deletes objects.
type Deleter interface {
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
}

const (
	// unschedulableFor is how long a pod waits for a node before it is evaluated. The
	// scheduler retries at every change in the cluster.
	unschedulableFor = 2 * time.Minute
	// unschedulableRecheck is when to evaluate a pod again that must not be deleted now. The
	// constraints of its volume may change.
	unschedulableRecheck = 2 * time.Minute
	// noteMaxAge is the age of a pod above which its notes were already recorded, by this
	// leader or the previous one.
	noteMaxAge = 5 * time.Minute

	// conflictWait is how long to wait after another client has changed a pod that is to be deleted.
	conflictWait = time.Second

	actionSpread   = "SpreadMembers" // the topology controller uses it, too
	actionRespread = "DeletePod"
)

// SetupWithManager starts the reconciler on the leader, for pods that have a record of
// admission.
func (u *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	recorded := predicate.NewPredicateFuncs(func(o client.Object) bool {
		_, ok := o.GetAnnotations()[v1alpha1.SpreadAnnotation]
		return ok
	})
	return ctrl.NewControllerManagedBy(mgr).Named("unschedulable-member").
		For(&corev1.Pod{}, builder.WithPredicates(recorded)).
		WithOptions(controller.Options{
			RateLimiter: queue.Backoff[reconcile.Request](), NewQueue: queue.OfRequests,
		}).
		Complete(u)
}

// Reconcile observes one pod, announces its notes, and deletes it if it waits for a node
// without success.
func (u *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := u.Reader.Get(ctx, req.NamespacedName, &pod); err != nil {
		if apierrors.IsNotFound(err) {
			u.announced.Remove(req.NamespacedName)
			u.unwatch(req.NamespacedName)
			return reconcile.Result{RequeueAfter: u.dropDeletion(req.NamespacedName)}, nil
		}
		return reconcile.Result{}, fmt.Errorf("observe pod %s: %w", req, err)
	}
	record, ok := spreadRecordOf(&pod)
	if pod.Spec.NodeName != "" || !ok || !requiresAny(record) {
		u.deleted.Remove(req.NamespacedName)
	}
	if !ok || pod.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	owner, ok, err := scheduling.OwnerOf(ctx, u.Reader, &pod)
	if err != nil || !ok {
		return reconcile.Result{}, err
	}
	u.announce(&pod, owner, record)
	since, waits := unschedulableSince(&pod)
	if !waits || !requiresAny(record) {
		u.unwatch(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if rest := unschedulableFor - u.Clock.Since(since); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	after, err := u.respread(ctx, req.NamespacedName, owner)
	return reconcile.Result{RequeueAfter: after}, err
}

// unwatch removes what is known of a pod that waits.
func (u *Reconciler) unwatch(key client.ObjectKey) {
	u.unruled.Remove(key)
	u.nodes.Remove(key)
}

// spreadRecordOf returns the record of a pod. One without a time, of an earlier version, may come from the pod's
// template: the next pod would have it again.
func spreadRecordOf(pod *corev1.Pod) (annotation.SpreadRecord, bool) {
	record, ok := annotation.SpreadRecordOf(pod)
	return record, ok && !record.At.IsZero()
}

func requiresAny(record annotation.SpreadRecord) bool {
	return slices.ContainsFunc(record.Terms, func(t spread.Term) bool { return t.Hard })
}

// announce records the notes of a pod as Events, once. It leaves out notes whose reason this
// version doesn't declare: anyone who may create pods can write the annotation.
func (u *Reconciler) announce(pod *corev1.Pod, owner owner.Owner, record annotation.SpreadRecord) {
	key := client.ObjectKeyFromObject(pod)
	if u.Clock.Since(pod.CreationTimestamp.Time) > noteMaxAge {
		return
	}
	if previous, _ := u.announced.Swap(key, pod.UID); previous == pod.UID {
		return
	}
	for _, n := range record.Notes {
		if reason, declared := reasons.Find(n.Reason); declared {
			u.warnOnPod(pod, owner, policy.NewNote(reason, "EtcdTopologyPolicy %s: %s", record.Policy, n.Message), actionSpread)
		}
	}
}

// warnOnPod records a warning Event on a member's pod. On the owner, the Events of several
// pods would be merged into one that shows the first message.
func (u *Reconciler) warnOnPod(pod *corev1.Pod, o owner.Owner, n policy.Note, action string) {
	announce.Event(u.Recorder, pod, announce.Reference(o), corev1.EventTypeWarning, n, action)
}

// unschedulableSince returns since when the scheduler has found no node for a pod, and
// reports whether the pod waits for one.
func unschedulableSince(pod *corev1.Pod) (time.Time, bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return c.LastTransitionTime.Time, pod.Spec.NodeName == ""
		}
	}
	return time.Time{}, false
}
