// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package watch has what decides which changes of objects lead to a reconciliation.
package watch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Clusters requests a reconciliation of the clusters that of returns for an object which has changed.
func Clusters[T client.Object](from cache.Cache, kind T, of func(context.Context, T) []owner.Key, when predicate.TypedPredicate[T]) source.TypedSource[owner.Key] {
	h := handler.TypedEnqueueRequestsFromMapFunc(of)
	return source.TypedKind(from, kind, h, when)
}
