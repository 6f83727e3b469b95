// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topology

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
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scrape"
)

// batchWindow is how long changes are collected before a reconciliation. A rollout changes
// many pods, and each reconciliation reads every cluster.
const batchWindow = time.Second

// SetupWithManager starts the reconciler on the leader.
func (t *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := scrape.Register(Collectors()...); err != nil {
		return err
	}
	c, err := controller.New("topology-policy", mgr, controller.Options{Reconciler: t, RateLimiter: queue.Backoff[reconcile.Request]()})
	if err != nil {
		return err
	}
	from := mgr.GetCache()
	for _, s := range []source.Source{
		watchAny(from, &v1alpha1.EtcdTopologyPolicy{}, watch.MetaOrSpecChanged[*v1alpha1.EtcdTopologyPolicy]()),
		watchAny(from, &appsv1.StatefulSet{}, watch.MetaOrSpecChanged[*appsv1.StatefulSet]()),
		watchAny(from, &corev1.Pod{}, watch.When(func(a, b *corev1.Pod) bool { return a.Spec.NodeName != b.Spec.NodeName })),
		watchAny(from, &corev1.Namespace{}, watch.MetaOrSpecChanged[*corev1.Namespace]()),
		watchAny(from, &corev1.Node{}, watch.When(func(a, b *corev1.Node) bool {
			return watch.MetaChanged(a, b) || !equality.Semantic.DeepEqual(a.Spec, b.Spec)
		})),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for policies: %w", err)
		}
	}
	if err := c.Watch(source.Channel(t.Findings.Changed(), handler.Funcs{
		GenericFunc: func(_ context.Context, _ event.GenericEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			q.AddAfter(reconcile.Request{}, batchWindow)
		},
	})); err != nil {
		return fmt.Errorf("watch for findings on budgets: %w", err)
	}
	return mgr.Add(&watch.Etcds{Mapper: mgr.GetRESTMapper(), Begin: func() error {
		return c.Watch(watchAny(from, &druidv1alpha1.Etcd{}, watch.MetaOrSpecChanged[*druidv1alpha1.Etcd]()))
	}})
}

// watchAny requests one reconciliation of everything soon after a change.
func watchAny[T client.Object](from cache.Cache, kind T, when predicate.TypedPredicate[T]) source.Source {
	type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]
	soon := func(q requests) { q.AddAfter(reconcile.Request{}, batchWindow) }
	return source.TypedKind(from, kind, handler.TypedFuncs[T, reconcile.Request]{
		CreateFunc: func(_ context.Context, _ event.TypedCreateEvent[T], q requests) { soon(q) },
		UpdateFunc: func(_ context.Context, _ event.TypedUpdateEvent[T], q requests) { soon(q) },
		DeleteFunc: func(_ context.Context, _ event.TypedDeleteEvent[T], q requests) { soon(q) },
	}, when)
}
