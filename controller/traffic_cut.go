// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TrafficCut ends cuts of client traffic when their time is up, by taking the
// key out of the Service's selector. When that is, Clock says: the node's that
// the leader runs on, not that of whoever cut. A key whose end can't be read
// would cut for good, so it is taken out at once.
//
// It remembers nothing: the end stands in the selector.
type TrafficCut struct {
	Client   ServicePatcher
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock

	denied denied
}

// ServicePatcher patches objects.
type ServicePatcher interface {
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

const (
	reasonRestored      = "ClientTrafficRestored"
	reasonRestoreDenied = "ClientTrafficRestoreDenied"
	actionRestore       = "RestoreClientTraffic"
)

// SetupWithManager starts the reconciler on the leader, for Services that are
// cut or were until now.
func (c *TrafficCut) SetupWithManager(mgr ctrl.Manager) error {
	cuts.tell(c.Clock)
	if err := registerMetrics(); err != nil {
		return err
	}
	runs, err := controller.New("traffic-cut", mgr, controller.Options{Reconciler: c, RateLimiter: pauses[reconcile.Request]()})
	if err != nil {
		return err
	}
	return runs.Watch(source.Kind(mgr.GetCache(), &corev1.Service{}, &handler.TypedEnqueueRequestForObject[*corev1.Service]{}, trafficChanged()))
}

// Reconcile observes one Service and takes a cut that has ended out of it.
func (c *TrafficCut) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var service corev1.Service
	if err := c.Reader.Get(ctx, req.NamespacedName, &service); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("observe Service %s: %w", req, err)
	}
	until, why, cut := cutOf(&service)
	if !cut {
		cuts.drop(req.NamespacedName)
		c.denied.drop(serviceKey(req.NamespacedName))
		return reconcile.Result{}, nil
	}
	cuts.set(req.NamespacedName, until)
	if left := until.Sub(c.Clock.Now()); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	return c.restore(ctx, &service, why)
}

// cutOf is until when a Service is cut, and why it ends then. False for one
// that is not.
func cutOf(service *corev1.Service) (until time.Time, why string, cut bool) {
	value, cut := service.Spec.Selector[v1alpha1.ClientTrafficKey]
	if !cut || service.DeletionTimestamp != nil {
		return time.Time{}, "", false
	}
	until, readable := observe.CutUntil(service)
	switch {
	case !readable:
		return time.Unix(0, 0), fmt.Sprintf("its selector said %s=%q, of which nobody can read an end", v1alpha1.ClientTrafficKey, value), true
	case value == observe.CutValue(time.Time{}):
		return until, "whoever restores it had ended the cut", true
	}
	return until, "it was cut until " + until.UTC().Format(time.RFC3339), true
}

// restore takes the key out, from the Service as it was judged and no other.
func (c *TrafficCut) restore(ctx context.Context, service *corev1.Service, why string) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(service)
	patch, err := restorePatch(service)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = c.Client.Patch(ctx, service, patch, client.FieldOwner("etcd-webhook"))
	if _, _, still := cutOf(service); err == nil && still {
		err = apierrors.NewForbidden(corev1.Resource("services"), service.Name, errors.New("admission put the key back"))
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case refused(err):
		// etcd-druid's component protection forbids it unless it is told of us.
		// It is somebody's guard: it stays on, and we come again.
		c.say(ctx, service, corev1.EventTypeWarning, policy.Note{Reason: reasonRestoreDenied, Message: fmt.Sprintf(
			"client traffic of Service %s can't be restored, although %s; the next try follows: %v", service.Name, why, err)})
		return reconcile.Result{RequeueAfter: c.denied.wait(serviceKey(key))}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("restore client traffic of Service %s: %w", key, err)
	}
	log.FromContext(ctx).Info("restored client traffic", "why", why)
	c.say(ctx, service, corev1.EventTypeNormal, policy.Note{Reason: reasonRestored, Message: fmt.Sprintf(
		"client traffic of Service %s is restored: %s", service.Name, why)})
	return reconcile.Result{}, nil
}

func restorePatch(service *corev1.Service) (client.Patch, error) {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": service.UID, "resourceVersion": service.ResourceVersion},
		"spec":     map[string]any{"selector": map[string]any{v1alpha1.ClientTrafficKey: nil}},
	})
	return client.RawPatch(types.MergePatchType, body), err
}

// say records an Event on the cluster's owner, where people look, and on the
// Service where no cluster is found behind it.
func (c *TrafficCut) say(ctx context.Context, service *corev1.Service, kind string, n policy.Note) {
	owners, _, err := c.Reader.OwnersOfService(ctx, service)
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot tell whose Service it is")
	}
	for _, o := range owners {
		c.Recorder.Eventf(referenceTo(o), service, kind, n.Reason, actionRestore, "%s", cut(n.Message))
	}
	if len(owners) == 0 {
		c.Recorder.Eventf(service, nil, kind, n.Reason, actionRestore, "%s", cut(n.Message))
	}
}

func serviceKey(key types.NamespacedName) observe.OwnerKey {
	return observe.OwnerKey{Kind: "Service", Namespace: key.Namespace, Name: key.Name}
}
