// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package queue

import "k8s.io/client-go/util/workqueue"

// released is a workqueue whose items a fair has. It releases the namespace of each item that is done.
type released[T comparable] struct {
	workqueue.TypedInterface[T]
	fair *fair[T]
}

// Done implements workqueue.TypedInterface. It need not wake a worker that waits for an item: the worker that
// is done takes the next one, and only one namespace more has any.
func (q *released[T]) Done(item T) {
	q.fair.release(item)
	q.TypedInterface.Done(item)
}
