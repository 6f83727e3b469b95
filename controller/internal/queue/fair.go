// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package queue decides in which order, and how soon after a failure, objects are reconciled.
package queue

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// fair holds what a controller is still to reconcile, and serves the namespaces in turn.
// A user who writes many objects in one namespace delays another namespace by one of them and not
// by all. Within a namespace the first comes first. The workqueue around it does the locking.
type fair[T comparable] struct {
	namespaceOf func(T) string
	// waiting are the items of each namespace that has some.
	waiting map[string][]T
	// order are those namespaces, the next one first.
	order []string
	items int
}

// Touch implements workqueue.Queue. An item that is added again keeps its position.
func (*fair[T]) Touch(T) {}

// Push implements workqueue.Queue.
func (q *fair[T]) Push(item T) {
	namespace := q.namespaceOf(item)
	if len(q.waiting[namespace]) == 0 {
		q.order = append(q.order, namespace)
	}
	q.waiting[namespace] = append(q.waiting[namespace], item)
	q.items++
}

// Len implements workqueue.Queue.
func (q *fair[T]) Len() int { return q.items }

// Pop implements workqueue.Queue. It is only called while there are items.
func (q *fair[T]) Pop() T {
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

// OfClusters returns a constructor of fair queues for controllers that reconcile clusters.
func OfClusters(name string, limiter workqueue.TypedRateLimiter[owner.Key]) workqueue.TypedRateLimitingInterface[owner.Key] {
	return newFair(func(key owner.Key) string { return key.Namespace }, name, limiter)
}

// OfRequests returns a constructor of fair queues for controllers that reconcile other objects.
func OfRequests(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return newFair(namespaceOfRequest, name, limiter)
}

func newFair[T comparable](namespaceOf func(T) string, name string, limiter workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimitingInterface[T] {
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{
		Name: name, Queue: &fair[T]{namespaceOf: namespaceOf, waiting: map[string][]T{}},
	})
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[T]{
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[T]{Name: name, Queue: queue}),
	})
}

func namespaceOfRequest(request reconcile.Request) string { return request.Namespace }
