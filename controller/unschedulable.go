// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Unschedulable handles members whose pods admission has spread. It records admission's
// notes on them as Events. If a pod waits for a node because of a required term that
// admission would not require now, it deletes the pod: the member's volume was bound where
// the term can't be met. The StatefulSet then recreates the pod.
//
// The new pod has the terms that admission decides then, so it is not deleted again for
// the same term.
type Unschedulable struct {
	Client   Deleter
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock

	// announced holds the pods whose notes were recorded as Events.
	announced keyed[client.ObjectKey, types.UID]
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

	actionRespread = "DeletePod"
)

// SetupWithManager starts the reconciler on the leader, for pods that have a record of
// admission.
func (u *Unschedulable) SetupWithManager(mgr ctrl.Manager) error {
	recorded := predicate.NewPredicateFuncs(func(o client.Object) bool {
		_, ok := o.GetAnnotations()[v1alpha1.SpreadAnnotation]
		return ok
	})
	return ctrl.NewControllerManagedBy(mgr).Named("unschedulable-member").
		For(&corev1.Pod{}, builder.WithPredicates(recorded)).
		WithOptions(controller.Options{
			RateLimiter: backoff[reconcile.Request](), NewQueue: newFairQueue(namespaceOfRequest),
		}).
		Complete(u)
}

// Reconcile observes one pod, announces its notes, and deletes it if it waits for a node
// without success.
func (u *Unschedulable) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := u.Reader.Get(ctx, req.NamespacedName, &pod); err != nil {
		if apierrors.IsNotFound(err) {
			u.announced.remove(req.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("observe pod %s: %w", req, err)
	}
	record, ok := annotation.SpreadRecordOf(&pod)
	if !ok || pod.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	owner, ok, err := u.Reader.OwnerToSpread(ctx, &pod)
	if err != nil || !ok {
		return reconcile.Result{}, err
	}
	u.announce(&pod, owner, record)
	since, waits := unschedulableSince(&pod)
	if !waits || !slices.ContainsFunc(record.Terms, func(t spread.Term) bool { return t.Hard }) {
		return reconcile.Result{}, nil
	}
	if rest := unschedulableFor - u.Clock.Since(since); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	after, err := u.respread(ctx, req.NamespacedName, owner)
	return reconcile.Result{RequeueAfter: after}, err
}

// announce records the notes of a pod as Events, once. It leaves out notes whose reason this
// version doesn't declare: anyone who may create pods can write the annotation.
func (u *Unschedulable) announce(pod *corev1.Pod, owner owner.Owner, record annotation.SpreadRecord) {
	key := client.ObjectKeyFromObject(pod)
	if u.Clock.Since(pod.CreationTimestamp.Time) > noteMaxAge {
		return
	}
	if previous, _ := u.announced.swap(key, pod.UID); previous == pod.UID {
		return
	}
	for _, n := range record.Notes {
		if reason, declared := reasons.Find(n.Reason); declared {
			warnOnPod(u.Recorder, pod, owner, policy.NewNote(reason, "EtcdTopologyPolicy %s: %s", record.Policy, n.Message), actionSpread)
		}
	}
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

// respread deletes a pod that would get other terms from admission now. It reads the pod
// from the API server: the cache doesn't hold its spec, and the scheduler may have found a
// node meanwhile. It returns when to evaluate the pod again.
func (u *Unschedulable) respread(ctx context.Context, key client.ObjectKey, owner owner.Owner) (time.Duration, error) {
	var pod corev1.Pod
	if err := u.Reader.Live.Get(ctx, key, &pod); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	record, ok := annotation.SpreadRecordOf(&pod)
	if _, waits := unschedulableSince(&pod); !ok || !waits || pod.DeletionTimestamp != nil {
		return 0, nil
	}
	term, found, err := u.obsoleteTerm(ctx, &pod, owner, record)
	if err != nil || !found {
		return unschedulableRecheck, err
	}
	// Only the version that was evaluated may be deleted.
	err = u.Client.Delete(ctx, &pod, client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return batchWindow, nil
	}
	if err != nil {
		return 0, fmt.Errorf("delete unschedulable pod %s: %w", key, err)
	}
	warn(u.Recorder, owner, policy.Note{Reason: reasons.MemberRespread, Message: fmt.Sprintf(
		"deleted pod %s, which found no node for %s: it was required to run in %s, and its volume doesn't allow that. The new pod requires only what its volume allows",
		pod.Name, unschedulableFor, terms.DescribeOne(term))}, actionRespread)
	return 0, nil
}

// obsoleteTerm returns a required term of the pod that admission would not require now and
// that the pod's volume prevents, and reports whether there is one.
func (u *Unschedulable) obsoleteTerm(ctx context.Context, pod *corev1.Pod, owner owner.Owner, record annotation.SpreadRecord) (spread.Term, bool, error) {
	match, err := u.Reader.PolicyFor(ctx, owner)
	if err != nil || !match.In(v1alpha1.ModeEnforce) {
		// Only an enforced policy may delete pods.
		return spread.Term{}, false, err
	}
	settings := observe.SpreadSettings(match.Policy)
	facts, err := u.Reader.SpreadFacts(ctx, owner, pod, settings.ZoneKey)
	if err != nil {
		return spread.Term{}, false, err
	}
	now := spread.Evaluate(facts, settings).Terms
	// The rule evaluates volumes only for terms that it would require. The pod's terms were
	// required, so evaluate them as required even if the policy has changed since.
	settings.Enforcement = spread.Required
	notes := spread.Evaluate(facts, settings).Notes
	for _, t := range record.Terms {
		if t.Hard && volumePrevents(notes, t) && !slices.ContainsFunc(now, func(n spread.Term) bool {
			return n.Hard && n.Kind == t.Kind && n.TopologyKey == t.TopologyKey && n.MinDomains >= t.MinDomains
		}) {
			return t, true, nil
		}
	}
	return spread.Term{}, false, nil
}

// volumePrevents reports whether a term can't be met where the member's volume is.
func volumePrevents(notes []policy.Note, t spread.Term) bool {
	taken := spread.VolumeZoneTaken
	if t.TopologyKey == spread.HostnameKey {
		taken = spread.VolumeNodeTaken
	}
	return slices.ContainsFunc(notes, func(n policy.Note) bool {
		return n.Reason == taken || n.Reason == spread.VolumeNowhere
	})
}
