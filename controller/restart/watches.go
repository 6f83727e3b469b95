// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// SetupWithManager starts the reconciler on the leader, for StatefulSets and Etcds with a request. A cluster whose
// members restart is decided again every few seconds, so nothing else is watched.
func (c *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	watcher, err := controller.NewTyped("restart", mgr, controller.TypedOptions[owner.Key]{
		Reconciler:              c,
		RateLimiter:             queue.Backoff[owner.Key](),
		NewQueue:                queue.OfClusters,
		MaxConcurrentReconciles: 4,
	})
	if err != nil {
		return err
	}
	from := mgr.GetCache()
	if err := watcher.Watch(watch.Clusters(from, &appsv1.StatefulSet{}, c.ofStatefulSet, requested[*appsv1.StatefulSet]())); err != nil {
		return fmt.Errorf("watch for restarts: %w", err)
	}
	return mgr.Add(&watch.Etcds{Mapper: mgr.GetRESTMapper(), Begin: func() error {
		return watcher.Watch(watch.Clusters(from, &druidv1alpha1.Etcd{}, c.ofEtcd, requested[*druidv1alpha1.Etcd]()))
	}})
}

func (c *Reconciler) ofEtcd(_ context.Context, etcd *druidv1alpha1.Etcd) []owner.Key {
	return []owner.Key{{Kind: "Etcd", Namespace: etcd.Namespace, Name: etcd.Name}}
}

// ofStatefulSet maps a StatefulSet to the cluster that it is part of, none if it is no etcd cluster.
func (c *Reconciler) ofStatefulSet(ctx context.Context, sts *appsv1.StatefulSet) []owner.Key {
	o, found, err := c.Reader.OwnerOfStatefulSet(ctx, sts)
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot find the cluster of a StatefulSet", "namespace", sts.Namespace, "statefulSet", sts.Name)
	}
	if err != nil || !found {
		return nil
	}
	return []owner.Key{o.Key()}
}

// requested passes objects with a request or a record, or that had one before the change.
func requested[T client.Object]() predicate.TypedPredicate[T] {
	has := func(o T) bool {
		annotations := o.GetAnnotations()
		return annotations[v1alpha1.RestartRequestAnnotation] != "" || annotations[v1alpha1.RestartedPodsAnnotation] != ""
	}
	return predicate.TypedFuncs[T]{
		CreateFunc: func(e event.TypedCreateEvent[T]) bool { return has(e.Object) },
		DeleteFunc: func(event.TypedDeleteEvent[T]) bool { return false },
		UpdateFunc: func(e event.TypedUpdateEvent[T]) bool { return has(e.ObjectOld) || has(e.ObjectNew) },
	}
}
