// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
)

// Cluster is the target of a command, with the clients for it.
type Cluster struct {
	owner.Owner
	Reader *observe.Reader
	Kube   client.Client
	// Members is nil if the Cluster comes from App.Owner.
	Members *etcd.Cluster
}

// Close closes the connections to the members.
func (c *Cluster) Close() error {
	if c.Members == nil {
		return nil
	}
	return c.Members.Close()
}

// Owner returns the cluster that an argument names, without a connection to its members.
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
	owner, err := find(ctx, reader, namespace, target)
	if err != nil {
		return nil, err
	}
	return &Cluster{Owner: owner, Reader: reader, Kube: kube}, nil
}

// Cluster returns the cluster that an argument names, with the endpoints and credentials of its
// members. It does not connect to them yet. The caller must close it.
func (a *App) Cluster(ctx context.Context, target string) (*Cluster, error) {
	c, err := a.Owner(ctx, target)
	if err != nil {
		return nil, err
	}
	c.Members, err = a.members(ctx, c)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// members returns the members of a cluster, without a connection yet.
func (a *App) members(ctx context.Context, c *Cluster) (*etcd.Cluster, error) {
	access, err := a.Access()
	if err != nil {
		return nil, err
	}
	return access.Cluster(ctx, c.Reader, c.Owner)
}

// Refresh reads the cluster again, with the pods of its members if c has them. It reports
// whether it is still the same object, whose members the same product manages. Otherwise it
// leaves c as it is.
func (a *App) Refresh(ctx context.Context, c *Cluster) (same bool, err error) {
	c.Reader.Scripts.Forget()
	now, err := resolve.Target(ctx, c.Reader, c.Namespace, c.Target())
	if err != nil || now.UID != c.UID || now.WorkloadKind != c.WorkloadKind || !now.Distribution.Is(c.Distribution) {
		return false, err
	}
	c.Owner = now
	if c.Members == nil {
		return true, nil
	}
	members, err := a.members(ctx, c)
	if err != nil {
		return false, err
	}
	_ = c.Members.Close() // to pods that may be gone
	c.Members = members
	return true, nil
}

// ClusterBestEffort returns a cluster for commands that also work without members. If the members can't
// be reached, unreached is the reason, and c.Members is nil.
func (a *App) ClusterBestEffort(ctx context.Context, target string) (c *Cluster, unreached, err error) {
	if c, unreached = a.Cluster(ctx, target); unreached != nil {
		c, err = a.Owner(ctx, target)
	}
	return c, unreached, err
}

func find(ctx context.Context, r *observe.Reader, namespace, target string) (owner.Owner, error) {
	t, err := owner.ParseTarget(target)
	if err != nil {
		return owner.Owner{}, err
	}
	return resolve.Target(ctx, r, namespace, t)
}
