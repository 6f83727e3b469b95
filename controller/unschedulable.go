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
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Unschedulable looks after members that admission has spread. It says in
// Events what admission had to say of them, and makes a member's pod anew when
// the pod waits for a node because of a term that admission would not require
// any more: its volume was bound where the term can't be met.
//
// A new pod carries what admission decides then, so the comparison of the two
// also remembers that the deletion was spent.
type Unschedulable struct {
	Client   Deleter
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock

	// spoken are the pods whose notes were told. One worker reconciles.
	spoken map[client.ObjectKey]types.UID
}

// Deleter deletes objects.
type Deleter interface {
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
}

const (
	// unschedulableFor is how long a member waits before it is looked at. The
	// scheduler tries again at every change; what is still waiting waits for good.
	unschedulableFor = 2 * time.Minute
	// noteFresh is the age of a pod beyond which its notes were told by the
	// leader before this one.
	noteFresh = 5 * time.Minute

	reasonRespread = "MemberRespread"
	actionRespread = "DeletePod"
)

// SetupWithManager starts the reconciler on the leader, for pods that carry a
// record of admission.
func (u *Unschedulable) SetupWithManager(mgr ctrl.Manager) error {
	recorded := predicate.NewPredicateFuncs(func(o client.Object) bool {
		_, ok := o.GetAnnotations()[v1alpha1.SpreadAnnotation]
		return ok
	})
	return ctrl.NewControllerManagedBy(mgr).Named("unschedulable-member").
		For(&corev1.Pod{}, builder.WithPredicates(recorded)).
		WithOptions(controller.Options{RateLimiter: pauses[reconcile.Request]()}).
		Complete(u)
}

// Reconcile observes one pod, tells its notes, and deletes it if it waits for a
// node in vain.
func (u *Unschedulable) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := u.Reader.Get(ctx, req.NamespacedName, &pod); err != nil {
		if apierrors.IsNotFound(err) {
			delete(u.spoken, req.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("observe pod %s: %w", req, err)
	}
	record, ok := observe.SpreadRecordOf(&pod)
	if !ok || pod.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	owner, ok, err := u.Reader.OwnerToSpread(ctx, &pod)
	if err != nil || !ok {
		return reconcile.Result{}, err
	}
	u.speak(&pod, owner, record)
	since, waits := unschedulableSince(&pod)
	if !waits || !slices.ContainsFunc(record.Terms, func(t policy.Term) bool { return t.Hard }) {
		return reconcile.Result{}, nil
	}
	if rest := unschedulableFor - u.Clock.Since(since); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	again, err := u.respread(ctx, req.NamespacedName, owner)
	return reconcile.Result{RequeueAfter: again}, err
}

// speak tells the notes of a pod once.
func (u *Unschedulable) speak(pod *corev1.Pod, owner observe.Owner, record observe.SpreadRecord) {
	key := client.ObjectKeyFromObject(pod)
	if u.spoken[key] == pod.UID || u.Clock.Since(pod.CreationTimestamp.Time) > noteFresh {
		return
	}
	if u.spoken == nil {
		u.spoken = map[client.ObjectKey]types.UID{}
	}
	u.spoken[key] = pod.UID
	for _, n := range record.Notes {
		n.Message = fmt.Sprintf("EtcdTopologyPolicy %s: %s", record.Policy, n.Message)
		tellOf(u.Recorder, pod, owner, n, actionSpread)
	}
}

// unschedulableSince is since when the scheduler has found no node for a pod.
func unschedulableSince(pod *corev1.Pod) (time.Time, bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return c.LastTransitionTime.Time, pod.Spec.NodeName == ""
		}
	}
	return time.Time{}, false
}

// lookAgain is when to look again at a member that can't be helped now: where
// its volume is may still change.
const lookAgain = 2 * time.Minute

// respread deletes a pod that admission would spread otherwise now, read live:
// the cache lacks its spec, and the scheduler may have found a node meanwhile.
func (u *Unschedulable) respread(ctx context.Context, key client.ObjectKey, owner observe.Owner) (time.Duration, error) {
	var pod corev1.Pod
	if err := u.Reader.Live.Get(ctx, key, &pod); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	record, ok := observe.SpreadRecordOf(&pod)
	if _, waits := unschedulableSince(&pod); !ok || !waits || pod.DeletionTimestamp != nil {
		return 0, nil
	}
	in, required, err := u.inTheWay(ctx, &pod, owner, record)
	if err != nil || !required {
		return lookAgain, err
	}
	// Unless exactly what was judged is there still, nothing is deleted.
	err = u.Client.Delete(ctx, &pod, client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return gathering, nil
	}
	if err != nil {
		return 0, fmt.Errorf("delete unschedulable pod %s: %w", key, err)
	}
	tell(u.Recorder, owner, policy.Note{Reason: reasonRespread, Message: fmt.Sprintf(
		"pod %s found no node for %s: it was required to go to %s, and its volume is bound elsewhere; it is made anew with what can be kept",
		pod.Name, unschedulableFor, observe.DescribeTerm(in))}, actionRespread)
	return 0, nil
}

// inTheWay finds a required term of the pod that admission would not give it
// now, and that the pod's own volume is in the way of.
func (u *Unschedulable) inTheWay(ctx context.Context, pod *corev1.Pod, owner observe.Owner, record observe.SpreadRecord) (policy.Term, bool, error) {
	match, err := u.Reader.PolicyFor(ctx, owner)
	if err != nil || !match.In(v1alpha1.ModeEnforce) {
		// Without a policy in force nobody here has a say over pods.
		return policy.Term{}, false, err
	}
	settings := observe.SpreadSettings(match.Policy)
	facts, err := u.Reader.SpreadFactsOf(ctx, owner, pod, settings.ZoneKey)
	if err != nil {
		return policy.Term{}, false, err
	}
	now := policy.Spread(facts, settings).Terms
	// The rule tells of volumes only where it would require something, as it did of
	// this pod: a policy that has changed since is no reason to delete it.
	settings.Enforcement = policy.Required
	notes := policy.Spread(facts, settings).Notes
	for _, t := range record.Terms {
		if t.Hard && tied(notes, t) && !slices.ContainsFunc(now, func(n policy.Term) bool {
			return n.Hard && n.Kind == t.Kind && n.TopologyKey == t.TopologyKey && n.MinDomains >= t.MinDomains
		}) {
			return t, true, nil
		}
	}
	return policy.Term{}, false, nil
}

// tied says whether the member's volume is where a term can't be met.
func tied(notes []policy.Note, t policy.Term) bool {
	taken := policy.VolumeZoneTaken
	if t.TopologyKey == policy.HostnameKey {
		taken = policy.VolumeNodeTaken
	}
	return slices.ContainsFunc(notes, func(n policy.Note) bool {
		return n.Reason == taken || n.Reason == policy.VolumeNowhere
	})
}
