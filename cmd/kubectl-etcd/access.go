// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// access is what it takes to speak to members of any cluster. Unlike env it is
// safe for concurrent use.
type access struct {
	tunnel *etcd.Tunnel
	given  etcd.Credentials
}

func (e *env) access() (access, error) {
	config, err := e.config()
	if err != nil {
		return access{}, err
	}
	given, err := e.credentials.read(e)
	return access{tunnel: etcd.NewTunnel(config), given: given}, err
}

// members are those of one cluster, not dialled yet. The caller closes them.
func (a access) members(ctx context.Context, r *observe.Reader, o observe.Owner) (*etcd.Cluster, error) {
	endpoints, err := etcd.Endpoints(ctx, r, o, a.given)
	if err != nil {
		return nil, err
	}
	return &etcd.Cluster{Tunnel: a.tunnel, Endpoints: endpoints}, nil
}
