// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package traffic has the reconciler that ends cuts of client traffic.
package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scrape"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Reconciler ends a cut of client traffic when its time is over: it removes the key of the
// cut from the Service's selector. The time is that of Clock, which is the clock of the
// leader's node and not that of the user who cut. A key without a readable end would cut
// traffic for ever, so it is removed at once, as is one whose end is more than
// observe.LongestCut ahead.
//
// While a restore or a coordinated restart has stopped members behind the Service, it moves the end instead, by
// holdPeriod each time: clients would reach members without data. The operation restores client traffic at its end. The
// mark that shows it is on the StatefulSet, so a user of another namespace can't write it.
//
// The end of a cut is recorded in the selector, so it survives a restart.
type Reconciler struct {
	Client   Patcher
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock

	denied write.Denials[types.NamespacedName]
}

// Patcher has the method of a client by which this controller writes.
type Patcher interface {
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

const (
	actionRestore = "RestoreClientTraffic"
	actionHold    = "HoldClientTraffic"
)

// holdPeriod is by how much the end of a cut moves while an operation has stopped members.
const holdPeriod = 15 * time.Minute

// SetupWithManager starts the reconciler on the leader, for Services that are cut or were
// cut before the change.
func (c *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := scrape.Register(Collectors()...); err != nil {
		return err
	}
	cutController, err := controller.New("traffic-cut", mgr, controller.Options{
		Reconciler: c, RateLimiter: queue.Backoff[reconcile.Request](), NewQueue: queue.OfRequests,
	})
	if err != nil {
		return err
	}
	return cutController.Watch(source.Kind(mgr.GetCache(), &corev1.Service{}, &handler.TypedEnqueueRequestForObject[*corev1.Service]{}, watch.TrafficChanged()))
}

// Reconcile observes one Service and restores its traffic if the cut has ended.
func (c *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var service corev1.Service
	if err := c.Reader.Get(ctx, req.NamespacedName, &service); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("observe Service %s: %w", req, err)
	}
	until, why, cut := cutOf(&service, c.Clock.Now())
	if !cut {
		cuts.Remove(req.NamespacedName)
		c.denied.Remove(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	cuts.Swap(req.NamespacedName, cutEnd{until, c.Clock})
	if left := until.Sub(c.Clock.Now()); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	if service.Spec.Selector[v1alpha1.ClientTrafficKey] != observe.CutValue(time.Time{}) { // which a command or a user has ended
		stopped, err := memberservices.StoppedBehind(ctx, c.Reader, &service)
		if err != nil {
			return reconcile.Result{}, err
		}
		if stopped != nil {
			return c.hold(ctx, &service, stopped)
		}
	}
	return c.restore(ctx, &service, why)
}

// hold moves the end of a cut that is over, in exactly the version that was evaluated. Without the write the key of the
// cut stays too, but admission doesn't maintain it.
func (c *Reconciler) hold(ctx context.Context, service *corev1.Service, stopped *memberservices.Stopped) (reconcile.Result, error) {
	key, until := client.ObjectKeyFromObject(service), c.Clock.Now().Add(holdPeriod)
	patch, err := selectorPatch(service, observe.CutValue(until))
	if err != nil {
		return reconcile.Result{}, err
	}
	result := reconcile.Result{RequeueAfter: holdPeriod}
	err = c.Client.Patch(ctx, service, patch, write.FieldOwner)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case write.Answered(err):
		result.RequeueAfter = c.denied.Next(key)
		log.FromContext(ctx).Error(err, "cannot move the end of a cut")
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("hold client traffic of Service %s: %w", key, err)
	default:
		cuts.Swap(key, cutEnd{until, c.Clock})
	}
	n := policy.Note{Reason: reasons.ClientTrafficHeld, Message: fmt.Sprintf(
		"client traffic through Service %s stays cut after its end: %s, so clients could reach members without data; %s", service.Name, stopped, stopped.Ways(""))}
	announce.Event(c.Recorder, announce.Reference(stopped.Owner), service, corev1.EventTypeWarning, n, actionHold)
	announce.Event(c.Recorder, service, nil, corev1.EventTypeWarning, n, actionHold)
	return result, nil
}

// cutOf returns until when a Service is cut and why the cut ends then, and reports whether
// the Service is cut.
func cutOf(service *corev1.Service, now time.Time) (until time.Time, why string, cut bool) {
	value, cut := service.Spec.Selector[v1alpha1.ClientTrafficKey]
	if !cut || service.DeletionTimestamp != nil {
		return time.Time{}, "", false
	}
	until, readable := observe.CutUntil(service, now)
	switch {
	case !readable:
		return time.Unix(0, 0), fmt.Sprintf("its selector had %s=%q, which is not the end of a cut of at most %s", v1alpha1.ClientTrafficKey, value, policy.Duration(observe.LongestCut)), true
	case value == observe.CutValue(time.Time{}):
		return until, "an interrupted restore had already ended the cut", true
	}
	return until, "the cut ended at " + format.Time(until), true
}

// restore removes the key from the Service, in exactly the version that was evaluated.
func (c *Reconciler) restore(ctx context.Context, service *corev1.Service, why string) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(service)
	patch, err := selectorPatch(service, nil)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = c.Client.Patch(ctx, service, patch, write.FieldOwner)
	if _, _, still := cutOf(service, c.Clock.Now()); err == nil && still {
		err = apierrors.NewForbidden(corev1.Resource("services"), service.Name, errors.New("admission added the key again"))
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case write.Answered(err):
		// etcd-druid's component protection denies it unless this service account is exempt.
		// It stays switched on, and the write is retried.
		c.record(ctx, service, corev1.EventTypeWarning, policy.Note{Reason: reasons.ClientTrafficRestoreDenied, Message: fmt.Sprintf(
			"cannot restore client traffic through Service %s, although %s; retrying: %v", service.Name, why, err)})
		return reconcile.Result{RequeueAfter: c.denied.Next(key)}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("restore client traffic of Service %s: %w", key, err)
	}
	log.FromContext(ctx).Info("restored client traffic", "why", why)
	c.record(ctx, service, corev1.EventTypeNormal, policy.Note{Reason: reasons.ClientTrafficRestored, Message: fmt.Sprintf(
		"restored client traffic through Service %s: %s", service.Name, why)})
	return reconcile.Result{}, nil
}

// selectorPatch returns the patch that sets the value of the cut's key, or removes the key for nil.
func selectorPatch(service *corev1.Service, value any) (client.Patch, error) {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": service.UID, "resourceVersion": service.ResourceVersion},
		"spec":     map[string]any{"selector": map[string]any{v1alpha1.ClientTrafficKey: value}},
	})
	return client.RawPatch(types.MergePatchType, body), err
}

// record records an Event on the owner of the cluster, where users look for it, or on the
// Service if no cluster is behind it.
func (c *Reconciler) record(ctx context.Context, service *corev1.Service, kind string, n policy.Note) {
	owners, err := memberservices.Clusters(ctx, c.Reader, service)
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot find the cluster of a Service")
	}
	for _, o := range owners {
		announce.Event(c.Recorder, announce.Reference(o), service, kind, n, actionRestore)
	}
	if len(owners) == 0 {
		announce.Event(c.Recorder, service, nil, kind, n, actionRestore)
	}
}
