// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
)

// Scope selects what is searched.
type Scope struct {
	// Namespace is empty for all namespaces.
	Namespace string
	// Names are the names of one cluster and of its StatefulSets. It is empty for all clusters.
	Names []string
}

// ScopeOf returns the scope of one cluster in a namespace, or of all its clusters without a target. A cluster that is gone
// has the name that the user gave.
func ScopeOf(ctx context.Context, reader *observe.Reader, namespace, target string) (Scope, error) {
	scope := Scope{Namespace: namespace}
	if target == "" {
		return scope, nil
	}
	named, err := owner.ParseTarget(target)
	if err != nil {
		return scope, err
	}
	o, err := resolve.Target(ctx, reader, namespace, named)
	if _, gone := errors.AsType[*resolve.NotFoundError](err); gone {
		scope.Names = []string{named.Name}
		return scope, nil
	}
	scope.Names = []string{o.Name}
	if o.StatefulSet != "" {
		scope.Names = append(scope.Names, o.StatefulSet)
	}
	for _, w := range o.Workloads {
		scope.Names = append(scope.Names, w.Name)
	}
	return scope, err
}
