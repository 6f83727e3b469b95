// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// gathering is how long changes are gathered before all is looked at again: a
// rollout changes many pods, and each look goes over every cluster.
const gathering = time.Second

// SetupWithManager starts the reconciler on the leader.
func (t *TopologyPolicy) SetupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("topology-policy", mgr, controller.Options{Reconciler: t, RateLimiter: pauses[reconcile.Request]()})
	if err != nil {
		return err
	}
	from := mgr.GetCache()
	for _, s := range []source.Source{
		wake(from, &v1alpha1.EtcdTopologyPolicy{}, metaOrSpecChanged[*v1alpha1.EtcdTopologyPolicy]()),
		wake(from, &appsv1.StatefulSet{}, metaOrSpecChanged[*appsv1.StatefulSet]()),
		wake(from, &corev1.Pod{}, when(func(a, b *corev1.Pod) bool { return a.Spec.NodeName != b.Spec.NodeName })),
		wake(from, &corev1.Namespace{}, metaOrSpecChanged[*corev1.Namespace]()),
		wake(from, &corev1.Node{}, when(func(a, b *corev1.Node) bool {
			return metaChanged(a, b) || !equality.Semantic.DeepEqual(a.Spec, b.Spec)
		})),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for policies: %w", err)
		}
	}
	return mgr.Add(&etcdWatch{mapper: mgr.GetRESTMapper(), start: func() error {
		return c.Watch(wake(from, &druidv1alpha1.Etcd{}, metaOrSpecChanged[*druidv1alpha1.Etcd]()))
	}})
}

// wake asks for one look at everything, a moment after a change.
func wake[T client.Object](from cache.Cache, kind T, when predicate.TypedPredicate[T]) source.Source {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	soon := func(q queue) { q.AddAfter(reconcile.Request{}, gathering) }
	return source.TypedKind(from, kind, handler.TypedFuncs[T, reconcile.Request]{
		CreateFunc: func(_ context.Context, _ event.TypedCreateEvent[T], q queue) { soon(q) },
		UpdateFunc: func(_ context.Context, _ event.TypedUpdateEvent[T], q queue) { soon(q) },
		DeleteFunc: func(_ context.Context, _ event.TypedDeleteEvent[T], q queue) { soon(q) },
	}, when)
}
