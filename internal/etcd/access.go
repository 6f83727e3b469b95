// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Access has what is needed to connect to the members of any cluster. It is safe for
// concurrent use.
type Access struct {
	Tunnel      *tunnel.Dialer
	Credentials access.Credentials
}

// Cluster returns one cluster without connecting to it. The caller closes it.
func (a Access) Cluster(ctx context.Context, r *observe.Reader, o owner.Owner) (*Cluster, error) {
	endpoints, err := access.Endpoints(ctx, r, o, a.Credentials)
	if err != nil {
		return nil, err
	}
	return &Cluster{Tunnel: a.Tunnel, Endpoints: endpoints, Beyond: a.Beyond(r, o)}, nil
}

// Survey surveys the members of a cluster over connections of its own.
func (a Access) Survey(ctx context.Context, r *observe.Reader, o owner.Owner) (Survey, error) {
	c, err := a.Cluster(ctx, r, o)
	if err != nil {
		return Survey{}, err
	}
	defer func() { _ = c.Close() }() // nothing was written
	return c.Survey(ctx)
}
