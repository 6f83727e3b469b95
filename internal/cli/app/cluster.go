// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Cluster is the one that a command is about, and the ways to it.
type Cluster struct {
	observe.Owner
	Reader *observe.Reader
	Kube   client.Client
	// Members is nil where a command needs none: see env.owner.
	Members *etcd.Cluster
}

// Close ends the connections to the members.
func (c *Cluster) Close() error {
	if c.Members == nil {
		return nil
	}
	return c.Members.Close()
}

// Owner finds the cluster that an argument names, and doesn't look how its
// members are reached.
func (a *App) Owner(ctx context.Context, target string) (*Cluster, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, err
	}
	namespace, err := a.Namespace()
	if err != nil {
		return nil, err
	}
	owner, err := resolve(ctx, reader, namespace, target)
	if err != nil {
		return nil, err
	}
	return &Cluster{Owner: owner, Reader: reader, Kube: kube}, nil
}

// Cluster finds the Cluster that an argument names and how its members are
// reached. Nothing is dialled yet. Whoever gets one closes it.
func (a *App) Cluster(ctx context.Context, target string) (*Cluster, error) {
	c, err := a.Owner(ctx, target)
	if err != nil {
		return nil, err
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	given, err := a.Credentials.Read(a)
	if err != nil {
		return nil, err
	}
	endpoints, err := etcd.Endpoints(ctx, c.Reader, c.Owner, given)
	if err != nil {
		return nil, err
	}
	c.Members = &etcd.Cluster{Tunnel: tunnel.New(config), Endpoints: endpoints}
	return c, nil
}

// ClusterBestEffort is cluster for what can also be done without its members: where they
// can't be reached, unreached says why and members is nil.
func (a *App) ClusterBestEffort(ctx context.Context, target string) (c *Cluster, unreached, err error) {
	if c, unreached = a.Cluster(ctx, target); unreached != nil {
		c, err = a.Owner(ctx, target)
	}
	return c, unreached, err
}

func resolve(ctx context.Context, r *observe.Reader, namespace, target string) (observe.Owner, error) {
	t, err := observe.ParseTarget(target)
	if err != nil {
		return observe.Owner{}, err
	}
	return r.Resolve(ctx, namespace, t)
}
