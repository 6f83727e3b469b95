// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// fairQueue holds what a controller is still to reconcile, and serves the namespaces in turn.
// A user who writes many objects in one namespace delays another namespace by one of them and not
// by all. Within a namespace the first comes first. The workqueue around it does the locking.
type fairQueue[T comparable] struct {
	namespaceOf func(T) string
	// waiting are the items of each namespace that has some.
	waiting map[string][]T
	// order are those namespaces, the next one first.
	order []string
	items int
}

// Touch implements workqueue.Queue. An item that is added again keeps its position.
func (*fairQueue[T]) Touch(T) {}

// Push implements workqueue.Queue.
func (q *fairQueue[T]) Push(item T) {
	namespace := q.namespaceOf(item)
	if len(q.waiting[namespace]) == 0 {
		q.order = append(q.order, namespace)
	}
	q.waiting[namespace] = append(q.waiting[namespace], item)
	q.items++
}

// Len implements workqueue.Queue.
func (q *fairQueue[T]) Len() int { return q.items }

// Pop implements workqueue.Queue. It is only called while there are items.
func (q *fairQueue[T]) Pop() T {
	namespace := q.order[0]
	q.order = q.order[1:]
	item, rest := q.waiting[namespace][0], q.waiting[namespace][1:]
	q.items--
	if len(rest) == 0 {
		delete(q.waiting, namespace)
		return item
	}
	q.waiting[namespace] = rest
	q.order = append(q.order, namespace)
	return item
}

// newFairQueue returns a constructor of such queues, as controller-runtime wants it.
func newFairQueue[T comparable](namespaceOf func(T) string) func(string, workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimitingInterface[T] {
	return func(name string, limiter workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimitingInterface[T] {
		queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{
			Name: name, Queue: &fairQueue[T]{namespaceOf: namespaceOf, waiting: map[string][]T{}},
		})
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[T]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[T]{Name: name, Queue: queue}),
		})
	}
}

func namespaceOfOwner(key owner.Key) string               { return key.Namespace }
func namespaceOfRequest(request reconcile.Request) string { return request.Namespace }
