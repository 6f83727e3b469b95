// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// cluster is the one that a command is about, and the ways to it.
type cluster struct {
	observe.Owner
	reader *observe.Reader
	kube   client.Client
	// members is nil where a command needs none: see env.owner.
	members *etcd.Cluster
}

// Close ends the connections to the members.
func (c *cluster) Close() error {
	if c.members == nil {
		return nil
	}
	return c.members.Close()
}

// owner finds the cluster that an argument names, and doesn't look how its
// members are reached.
func (e *env) owner(ctx context.Context, target string) (*cluster, error) {
	kube, err := e.client()
	if err != nil {
		return nil, err
	}
	reader, err := e.reader()
	if err != nil {
		return nil, err
	}
	namespace, err := e.namespace()
	if err != nil {
		return nil, err
	}
	owner, err := resolve(ctx, reader, namespace, target)
	if err != nil {
		return nil, err
	}
	return &cluster{Owner: owner, reader: reader, kube: kube}, nil
}

// cluster finds the cluster that an argument names and how its members are
// reached. Nothing is dialled yet. Whoever gets one closes it.
func (e *env) cluster(ctx context.Context, target string) (*cluster, error) {
	c, err := e.owner(ctx, target)
	if err != nil {
		return nil, err
	}
	config, err := e.config()
	if err != nil {
		return nil, err
	}
	given, err := e.credentials.read(e)
	if err != nil {
		return nil, err
	}
	endpoints, err := etcd.Endpoints(ctx, c.reader, c.Owner, given)
	if err != nil {
		return nil, err
	}
	c.members = &etcd.Cluster{Tunnel: etcd.NewTunnel(config), Endpoints: endpoints}
	return c, nil
}

// clusterAtBest is cluster for what can also be done without its members: where they
// can't be reached, unreached says why and members is nil.
func (e *env) clusterAtBest(ctx context.Context, target string) (c *cluster, unreached, err error) {
	if c, unreached = e.cluster(ctx, target); unreached != nil {
		c, err = e.owner(ctx, target)
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
