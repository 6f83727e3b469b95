// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scrape"
)

// SetupWithManager starts the reconciler on the leader, for StatefulSets whose rollout is held. A
// cluster whose rollout is held is decided again every few seconds, so nothing else is watched.
func (c *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := scrape.Register(Collectors()...); err != nil {
		return err
	}
	watcher, err := controller.NewTyped("rollout", mgr, controller.TypedOptions[owner.Key]{
		Reconciler:              c,
		RateLimiter:             queue.Backoff[owner.Key](),
		NewQueue:                queue.OfClusters,
		MaxConcurrentReconciles: 4,
	})
	if err != nil {
		return err
	}
	if err := watcher.Watch(watch.Clusters(mgr.GetCache(), &appsv1.StatefulSet{}, c.ofStatefulSet, rolloutHeld())); err != nil {
		return fmt.Errorf("watch for rollouts: %w", err)
	}
	return nil
}

// ofStatefulSet maps a StatefulSet to the cluster that it is part of. One that is no etcd cluster
// any more stands for itself.
func (c *Reconciler) ofStatefulSet(ctx context.Context, sts *appsv1.StatefulSet) []owner.Key {
	o, found, err := c.Reader.OwnerOfStatefulSet(ctx, sts)
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "cannot find the cluster of a StatefulSet", "namespace", sts.Namespace, "statefulSet", sts.Name)
	case found:
		return []owner.Key{o.Key()}
	}
	return []owner.Key{{Kind: "StatefulSet", Namespace: sts.Namespace, Name: sts.Name}}
}

// rolloutHeld passes StatefulSets whose rollout is held, or was held before the change.
func rolloutHeld() predicate.TypedPredicate[*appsv1.StatefulSet] {
	held := func(s *appsv1.StatefulSet) bool { return rollouts.Recorded(s.Annotations) }
	return predicate.TypedFuncs[*appsv1.StatefulSet]{
		CreateFunc: func(e event.TypedCreateEvent[*appsv1.StatefulSet]) bool { return held(e.Object) },
		DeleteFunc: func(e event.TypedDeleteEvent[*appsv1.StatefulSet]) bool { return held(e.Object) },
		UpdateFunc: func(e event.TypedUpdateEvent[*appsv1.StatefulSet]) bool {
			return held(e.ObjectOld) || held(e.ObjectNew)
		},
	}
}
