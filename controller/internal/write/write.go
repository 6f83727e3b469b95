// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package write has what controllers do about the writes of objects: the name that they use, what
// an error means, and how long to wait after a refusal.
package write

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
)

// FieldOwner is the name of this project's writes in an object's managed fields.
const FieldOwner = client.FieldOwner("etcd-webhook")

// Answered reports whether the API server answered a request with an error. Other
// errors come from requests that it didn't answer.
func Answered(err error) bool {
	_, ok := errors.AsType[*apierrors.StatusError](err)
	return ok
}

// Denials counts refused writes in a row. The zero value is ready.
type Denials[K comparable] struct {
	memory.Keyed[K, int]
}

// Next counts one more refusal and returns how long to wait before the next write: 5 s,
// doubled up to 80 s.
func (d *Denials[K]) Next(key K) time.Duration {
	n := d.Update(key, func(n int) int { return n + 1 })
	return 5 * time.Second << min(n-1, 4)
}
