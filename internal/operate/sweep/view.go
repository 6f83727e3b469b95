// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// view is one reading of a namespace, or of all. It reads each list once, when it is needed.
type view struct {
	*Sweeper

	namespace string
	now       time.Time
	unseen    []Unseen

	leases    cached[[]coordinationv1.Lease]
	owners    cached[[]owner.Owner]
	pods      cached[[]corev1.Pod]
	services  cached[[]corev1.Service]
	installed cached[bool]
	surveys   map[owner.Key]cached[etcd.Survey]
	journals  map[owner.Key]rules.Known
}

// cached is a value that is read once.
type cached[T any] struct {
	value T
	err   error
	read  bool
}

func (c *cached[T]) get(read func() (T, error)) (T, error) {
	if !c.read {
		c.value, c.err = read()
		c.read = true
	}
	return c.value, c.err
}

func (s *Sweeper) newView(namespace string) *view {
	return &view{
		Sweeper: s, namespace: namespace, now: s.Clock.Now(),
		surveys: map[owner.Key]cached[etcd.Survey]{}, journals: map[owner.Key]rules.Known{},
	}
}

// unsure records once why something is not known, and returns Unknown.
func (v *view) unsure(what string, err error) rules.Known {
	if !slices.ContainsFunc(v.unseen, func(u Unseen) bool { return u.What == what }) {
		v.unseen = append(v.unseen, Unseen{What: what, Why: format.OneLine(err.Error())})
	}
	return rules.Unknown
}

func (v *view) readLeases(ctx context.Context) ([]coordinationv1.Lease, error) {
	return v.leases.get(func() ([]coordinationv1.Lease, error) {
		var all coordinationv1.LeaseList
		err := v.Kube.List(ctx, &all, client.InNamespace(v.namespace))
		return all.Items, err
	})
}

func (v *view) readOwners(ctx context.Context) ([]owner.Owner, error) {
	return v.owners.get(func() ([]owner.Owner, error) { return v.Reader.Clusters(ctx, client.InNamespace(v.namespace)) })
}

func (v *view) readPods(ctx context.Context) ([]corev1.Pod, error) {
	return v.pods.get(func() ([]corev1.Pod, error) {
		var all corev1.PodList
		err := v.Kube.List(ctx, &all, client.InNamespace(v.namespace))
		return all.Items, err
	})
}

func (v *view) readServices(ctx context.Context) ([]corev1.Service, error) {
	return v.services.get(func() ([]corev1.Service, error) {
		var all corev1.ServiceList
		err := v.Kube.List(ctx, &all, client.InNamespace(v.namespace))
		return all.Items, err
	})
}

// locked reports whether any of the locks with these names in a namespace is held.
func (v *view) locked(ctx context.Context, namespace string, names ...string) rules.Known {
	leases, err := v.readLeases(ctx)
	if err != nil {
		return v.unsure("leases.coordination.k8s.io", err)
	}
	return rules.Of(slices.ContainsFunc(leases, func(l coordinationv1.Lease) bool {
		return l.Namespace == namespace && slices.Contains(names, l.Name) && lock.MayBeHeld(&l, v.now)
	}))
}

// locksOf returns the names of the locks that a StatefulSet's cluster may have: that of its owner, if
// it is known, and those of an owner with its name.
func locksOf(o *owner.Owner, statefulSet string) []string {
	var names []string
	if o != nil {
		names = append(names, lock.Name(*o))
	}
	for _, kind := range []string{"StatefulSet", "Etcd"} {
		names = append(names, lock.Name(owner.Owner{Kind: kind, Name: statefulSet}))
	}
	return names
}

// unfinished reports whether a cluster has a journal.
func (v *view) unfinished(ctx context.Context, o owner.Owner) rules.Known {
	if known, read := v.journals[o.Key()]; read {
		return known
	}
	known := rules.No
	if journal.CanExist(o) {
		var config corev1.ConfigMap
		known = v.exists(ctx, "configmaps", o.Namespace, journal.Name(o), &config)
	}
	v.journals[o.Key()] = known
	return known
}

// survey asks the members of a cluster once.
func (v *view) survey(ctx context.Context, o owner.Owner) (etcd.Survey, error) {
	c := v.surveys[o.Key()]
	s, err := c.get(func() (etcd.Survey, error) {
		s, err := v.Survey(ctx, o)
		if err == nil {
			err = s.ListErr
		}
		return s, err
	})
	v.surveys[o.Key()] = c
	return s, err
}

// ownerLockedBy returns the cluster of a namespace whose lock has a name, nil for none.
func ownerLockedBy(owners []owner.Owner, namespace, lease string) *owner.Owner {
	for i := range owners {
		if owners[i].Namespace == namespace && lock.Name(owners[i]) == lease {
			return &owners[i]
		}
	}
	return nil
}
