// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// liveCluster is a cluster as the API server had it during one request. A guard decides by it.
type liveCluster struct {
	// reader reads from the API server what one cluster needs, and the names of it from the cache.
	reader  *Reader
	owner   owner.Owner
	w       Workload
	facts   Facts
	budgets []policyv1.PodDisruptionBudget
	// before is what votersBefore returns, 0 if a budget records a size.
	before int
}

// liveCluster reads a cluster from the API server, also which StatefulSets it has: find returns it.
// creates is the StatefulSet that the request creates, nil for none.
// The budgets are read first: an eviction that another replica records after that is seen as a
// conflict. The number of reads depends on the cluster alone, and not on what else is in the
// namespace, but for the budgets, which the eviction API lists, too.
func (r *Reader) liveCluster(ctx context.Context, namespace, what string, find func(*Reader) (owner.Owner, bool, error), creates *appsv1.StatefulSet) (liveCluster, error) {
	live := r.ByName()
	l := liveCluster{reader: live}
	var budgets policyv1.PodDisruptionBudgetList
	if err := live.List(ctx, &budgets, client.InNamespace(namespace)); err != nil {
		return l, fmt.Errorf("list budgets of namespace %s: %w", namespace, err)
	}
	l.budgets = budgets.Items
	o, found, err := find(live)
	if err != nil || !found {
		return l, cmp.Or(err, fmt.Errorf("the owner of %s is gone", what))
	}
	l.owner = o
	if creates != nil {
		l.w, err = live.formerly(ctx, o, creates)
	} else {
		l.w, err = live.Workload(ctx, o)
	}
	if err != nil {
		return l, err
	}
	l.facts = Facts{
		Cluster: policy.Cluster{Namespace: o.Namespace, Name: o.Name, Target: o.Target().String()}, At: r.Leases.Clock.Now(),
		asked: max(int(o.Replicas), l.w.replicas()), elsewhere: o.MembersDown(), listed: o.MembersListed(),
		peersUnknown: o.UnknownPeers(), sizeText: o.SizeText(), neverGrew: l.w.neverGrew(), Confirmed: true,
	}
	if l.recorded().Largest.N == 0 && creates == nil {
		if l.before, err = r.votersBefore(ctx, &l.w, !l.budgeted()); err != nil {
			return l, err
		}
	}
	if l.w.etcd != nil {
		return l, live.druid(ctx, &l.w, &l.facts)
	}
	live.statefulSet(ctx, &l.w, &l.facts)
	return l, nil
}

// budgeted reports whether a budget selects members.
func (l *liveCluster) budgeted() bool {
	return slices.ContainsFunc(l.budgets, func(b policyv1.PodDisruptionBudget) bool { return l.w.selects(&b) > 0 })
}

// recorded returns the sizes that the budgets record.
func (l *liveCluster) recorded() Budgets {
	var b Budgets
	for i := range l.budgets {
		b.recordSize(&l.w, &l.budgets[i], l.facts.At)
	}
	return b
}

// sized returns the facts with the size that the budgets record.
func (l *liveCluster) sized() Facts {
	f := l.facts
	f.Budgets, f.Cluster.Members = l.recorded(), slices.Clone(l.facts.Cluster.Members)
	if f.Largest = f.largest(f.Budgets.Largest); f.Budgets.Largest.N == 0 {
		f.Largest.N = max(f.Largest.N, l.before)
	}
	f.resize()
	return f
}

// reread reads the holder of a record again, which another client wrote, and judges what follows from it.
func (l *liveCluster) reread(ctx context.Context, r *Reader, holder client.Object, judge func()) error {
	if err := l.readHolder(ctx, r, holder); err != nil {
		return err
	}
	judge()
	return nil
}

// readHolder reads the holder of a record again, and the budgets if it is a StatefulSet: a budget that was
// created since has the records from then on.
func (l *liveCluster) readHolder(ctx context.Context, r *Reader, holder client.Object) error {
	again := &Reader{Reader: r.Uncached()}
	if sts, ok := holder.(*appsv1.StatefulSet); ok {
		return l.rereadSet(ctx, again, sts.Name)
	}
	namespace, name := l.owner.Namespace, holder.GetName()
	var pdb policyv1.PodDisruptionBudget
	found, err := again.Fetch(ctx, namespace, name, &pdb)
	if err != nil {
		return fmt.Errorf("observe budget %s/%s: %w", namespace, name, err)
	}
	l.budgets = slices.DeleteFunc(l.budgets, func(b policyv1.PodDisruptionBudget) bool { return b.Name == name })
	if found {
		l.budgets = append(l.budgets, pdb)
	}
	return nil
}

// rereadSet reads a StatefulSet and the budgets of its namespace again.
func (l *liveCluster) rereadSet(ctx context.Context, again *Reader, name string) error {
	namespace := l.owner.Namespace
	var budgets policyv1.PodDisruptionBudgetList
	if err := again.List(ctx, &budgets, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list budgets of namespace %s: %w", namespace, err)
	}
	l.budgets = budgets.Items
	var sts appsv1.StatefulSet
	if err := again.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &sts); err != nil {
		return fmt.Errorf("observe StatefulSet %s/%s: %w", namespace, name, err)
	}
	if l.w.StatefulSet.Name == name {
		l.w.StatefulSet = &sts
	}
	for i := range l.w.rest {
		if l.w.rest[i].Name == name {
			l.w.rest[i] = &sts
		}
	}
	return nil
}

// beside returns the StatefulSets that may be in one cluster with a StatefulSet, itself first.
func (r *Reader) beside(ctx context.Context, sts *appsv1.StatefulSet) ([]*appsv1.StatefulSet, error) {
	from := r.Reader
	if r.names != nil {
		from = r.names
	}
	var list appsv1.StatefulSetList
	if err := from.List(ctx, &list, client.InNamespace(sts.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list StatefulSets of namespace %s, some of which may be in the cluster of %s: %w", sts.Namespace, sts.Name, err)
	}
	sets := []*appsv1.StatefulSet{sts}
	for i := range list.Items {
		if list.Items[i].Name != sts.Name {
			sets = append(sets, &list.Items[i])
		}
	}
	// Whether others list one that lists no others, the cache shows: if they joined it just now, it still
	// has its own members, and a live read of them would not change that.
	if r.names == nil || len(source.PeersOf(sts).Others) == 0 {
		return sets, nil
	}
	return r.again(ctx, sets)
}

// again reads those of cached StatefulSets again that may be in one cluster with the first of them, and
// those that its members list: the cache may not have them yet. The others stay as they are cached: an
// entry that two advertise joins neither, so they count, too.
func (r *Reader) again(ctx context.Context, cached []*appsv1.StatefulSet) ([]*appsv1.StatefulSet, error) {
	first := cached[0]
	names := listedNames(first)
	for _, o := range owner.Spanning(cached) {
		if o.Runs(first.Name) {
			for _, part := range o.Workloads {
				names[part.Name] = true
			}
		}
	}
	delete(names, first.Name)
	out := slices.DeleteFunc(cached, func(sts *appsv1.StatefulSet) bool { return names[sts.Name] })
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var sts appsv1.StatefulSet
		found, err := r.Fetch(ctx, first.Namespace, name, &sts)
		if err != nil {
			return nil, fmt.Errorf("observe StatefulSet %s/%s: %w", first.Namespace, name, err)
		}
		if found {
			out = append(out, &sts)
		}
	}
	return out, nil
}

// listedNames returns the names that StatefulSets of other members have by the list of a
// StatefulSet's: the name and the host of a member are those of its pod.
func listedNames(sts *appsv1.StatefulSet) map[string]bool {
	names := map[string]bool{}
	for _, e := range source.PeersOf(sts).Others {
		pods := []string{e.Name}
		if u, err := url.Parse(e.URL); err == nil {
			host, _, _ := strings.Cut(u.Hostname(), ".")
			pods = append(pods, host)
		}
		for _, pod := range pods {
			if at := strings.LastIndexByte(pod, '-'); at > 0 && owner.OrdinalOf(pod, pod[:at], 0) >= 0 {
				names[pod[:at]] = true
			}
		}
	}
	return names
}
