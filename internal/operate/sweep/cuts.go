// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// findCuts returns the Services whose client traffic is cut.
func (v *view) findCuts(ctx context.Context) ([]Item, error) {
	services, err := v.readServices(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range services {
		if observe.IsCut(&services[at]) && services[at].DeletionTimestamp == nil {
			items = append(items, v.cutItem(ctx, &services[at]))
		}
	}
	return items, nil
}

func (v *view) cutItem(ctx context.Context, s *corev1.Service) Item {
	i := Item{Resource: "services", object: s}
	until, valid := observe.CutUntil(s, v.now)
	i.Facts.InForce = rules.Of(valid && v.now.Before(until.Add(observe.CutOverdue)))
	if valid && v.now.After(until) {
		i.Since = until // when it should have ended
	}
	owners, err := memberservices.Clusters(ctx, v.Reader, s) // a restore has no pods while it copies
	if err != nil {
		i.Facts.Cluster = v.unsure(fmt.Sprintf("the cluster of Service %s/%s", s.Namespace, s.Name), err)
		return i
	}
	i.Facts.Cluster, i.Facts.Unfinished = rules.Of(len(owners) > 0), rules.No
	if len(owners) > 0 {
		i.Owner = &owners[0]
	}
	var locks []string
	for at := range owners {
		locks = append(locks, lock.Name(owners[at]))
		i.names = append(i.names, owners[at].Name, owners[at].StatefulSet)
		switch known := v.unfinishedCut(ctx, owners[at]); {
		case known == rules.Yes && i.Facts.Unfinished != rules.Yes:
			i.Owner, i.Facts.Unfinished = &owners[at], known
		case known == rules.Unknown && i.Facts.Unfinished == rules.No:
			i.Facts.Unfinished = known
		}
	}
	i.Facts.Locked = v.locked(ctx, s.Namespace, locks...)
	return i
}

// findSuspensions returns the Etcds that a cut of client traffic suspended.
func (v *view) findSuspensions(ctx context.Context) ([]Item, error) {
	etcds, err := v.readEtcds(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range etcds {
		o := owner.OfEtcd(&etcds[at], nil)
		if !traffic.SuspendedByCut(o) {
			continue
		}
		i := Item{Resource: "etcds", Group: druidv1alpha1.SchemeGroupVersion.Group, object: &etcds[at], Owner: &o}
		i.Facts.Locked = v.locked(ctx, o.Namespace, lock.Name(o))
		i.Facts.InForce, i.Facts.Unfinished = v.anyCut(ctx, o.Namespace), v.unfinishedCut(ctx, o)
		items = append(items, i)
	}
	return items, nil
}

// readEtcds lists the Etcds of etcd-druid, none if the API server does not serve the kind.
func (v *view) readEtcds(ctx context.Context) ([]druidv1alpha1.Etcd, error) {
	var etcds druidv1alpha1.EtcdList
	if err := v.Kube.List(ctx, &etcds, client.InNamespace(v.namespace)); err != nil && !meta.IsNoMatchError(err) {
		return nil, client.IgnoreNotFound(err)
	}
	return etcds.Items, nil
}

// anyCut reports whether any Service of a namespace is cut.
func (v *view) anyCut(ctx context.Context, namespace string) rules.Known {
	services, err := v.readServices(ctx)
	if err != nil {
		return v.unsure("services", err)
	}
	return rules.Of(slices.ContainsFunc(services, func(s corev1.Service) bool { return s.Namespace == namespace && observe.IsCut(&s) }))
}

// unfinishedCut reports whether a cluster has the journal of an operation that cuts client traffic: a restore or
// a coordinated restart.
func (v *view) unfinishedCut(ctx context.Context, o owner.Owner) rules.Known {
	known := v.unfinished(ctx, o)
	if known != rules.Yes {
		return known
	}
	j, err := journal.Read(ctx, v.Kube, o)
	if err != nil {
		return v.unsure(fmt.Sprintf("journal %s/%s", o.Namespace, journal.Name(o)), err)
	}
	return rules.Of(j != nil && membership.CutsTraffic(j))
}

// trafficWays returns the command that restores client traffic. It is kubectl's for a Service that the
// plugin would not restore, because a cut by the plugin would not choose it.
func (v *view) trafficWays(ctx context.Context, i *Item) []string {
	restore := func() []string {
		return []string{v.command("restore-client-traffic", i.Namespace, i.Owner.Target().String())}
	}
	if i.Facts.Kind == rules.Suspension {
		return restore()
	}
	if i.Owner != nil {
		cut, err := traffic.CutServices(ctx, v.Reader, *i.Owner)
		if err == nil && slices.ContainsFunc(cut, func(s corev1.Service) bool { return s.Name == i.object.GetName() }) {
			return restore()
		}
	}
	return []string{fmt.Sprintf(`kubectl patch service %s -n %s --type merge -p '{"spec":{"selector":{"%s":null}}}'`, i.object.GetName(), i.Namespace, v1alpha1.ClientTrafficKey) + v.Flags}
}
