// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package queue decides in which order, and how soon after a failure, objects are reconciled.
package queue

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// fair holds what a controller is still to reconcile, and serves the namespaces in turn, each by one worker.
// A user who writes many objects in one namespace delays another namespace by one of them and not
// by all, however long each takes. Within a namespace the first comes first.
type fair[T comparable] struct {
	namespaceOf func(T) string

	// The workqueue around it has its own lock, which isn't held for release.
	mu sync.Mutex
	// waiting are the items of each namespace that has some.
	waiting map[string][]T
	// busy are the namespaces that a worker serves.
	busy map[string]bool
	// order are the other namespaces that have items, the next one first.
	order []string
	// free counts the items of these.
	free int
}

// Touch implements workqueue.Queue. An item that is added again keeps its position.
func (*fair[T]) Touch(T) {}

// Push implements workqueue.Queue.
func (q *fair[T]) Push(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	namespace := q.namespaceOf(item)
	q.waiting[namespace] = append(q.waiting[namespace], item)
	if q.busy[namespace] {
		return
	}
	if len(q.waiting[namespace]) == 1 {
		q.order = append(q.order, namespace)
	}
	q.free++
}

// Len implements workqueue.Queue. It counts the items that a worker may take now.
func (q *fair[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.free
}

// Pop implements workqueue.Queue. It is only called while there are items.
func (q *fair[T]) Pop() T {
	q.mu.Lock()
	defer q.mu.Unlock()
	namespace := q.order[0]
	q.order = q.order[1:]
	item, rest := q.waiting[namespace][0], q.waiting[namespace][1:]
	q.free -= 1 + len(rest)
	q.busy[namespace] = true
	if len(rest) == 0 {
		delete(q.waiting, namespace)
		return item
	}
	q.waiting[namespace] = rest
	return item
}

// release lets the next worker serve the namespace of an item.
func (q *fair[T]) release(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	namespace := q.namespaceOf(item)
	delete(q.busy, namespace)
	if n := len(q.waiting[namespace]); n > 0 {
		q.order = append(q.order, namespace)
		q.free += n
	}
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
	items := &fair[T]{namespaceOf: namespaceOf, waiting: map[string][]T{}, busy: map[string]bool{}}
	queue := &released[T]{fair: items, TypedInterface: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: name, Queue: items})}
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[T]{
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[T]{Name: name, Queue: queue}),
	})
}

func namespaceOfRequest(request reconcile.Request) string { return request.Namespace }
