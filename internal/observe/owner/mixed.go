// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// Mixed is a cluster of StatefulSets and of pods that no StatefulSet made. Its owner is that of the
// StatefulSets.
type Mixed struct {
	Owner Owner
	// sets are the names of its StatefulSets, and groups the owners of its pods.
	sets   []string
	groups []Key
	// listed are the entries that its members list.
	listed map[etcdconf.Peer]bool
}

// Has reports whether the cluster of an owner is part of this one.
func (m *Mixed) Has(o Owner) bool {
	if o.WithoutStatefulSet() {
		return slices.Contains(m.groups, o.Key())
	}
	return o.Namespace == m.Owner.Namespace && o.WorkloadKind == StatefulSet && slices.ContainsFunc(m.sets, o.Runs)
}

// JoinPods returns the clusters of StatefulSets and pods of one namespace that list each other: a StatefulSet
// lists an entry that a pod advertises, and the pod lists one of the StatefulSet's. As between StatefulSets, a
// list that is not returned joins nothing, and neither does an entry that several advertise. It splits no
// cluster of StatefulSets or of pods alone.
func JoinPods(sets []*appsv1.StatefulSet, pods []corev1.Pod) []Mixed {
	all, listers := listedSetsOf(sets), []lister(nil)
	for _, set := range all {
		listers = append(listers, lister{namespace: set.sts.Namespace, self: set.peers.Own, listed: set.peers.Others})
	}
	var groups []PodGroup
	var members []*corev1.Pod
	var of []int // the group of each pod
	for _, g := range GroupPods(pods) {
		if IsMadeByOperator(g.Pods[0]) {
			continue
		}
		for range g.Pods {
			of = append(of, len(groups))
		}
		members, groups = append(members, g.Pods...), append(groups, g)
	}
	for _, m := range listedPodsOf(members) {
		listers = append(listers, lister{namespace: m.pod.Namespace, key: m.key, self: m.self, listed: m.peers})
	}
	parts := mixedParts(all, of, len(groups), listingsOf(listers))
	var out []Mixed
	for _, some := range grouped(parts, numbers(len(all)+len(groups))) {
		inSets := slices.IndexFunc(some, func(i int) bool { return i >= len(all) })
		if inSets <= 0 {
			continue
		}
		var own []listedSet
		for _, i := range some[:inSets] {
			own = append(own, all[i])
		}
		var beside []PodGroup
		for _, i := range some[inSets:] {
			beside = append(beside, groups[i-len(all)])
		}
		if m, ok := mixedOf(own, beside); ok {
			out = append(out, m)
		}
	}
	return out
}

// mixedParts joins StatefulSets and groups of pods, which have the numbers after those of the StatefulSets.
func mixedParts(all []listedSet, of []int, groups int, l *listings) partition {
	parts := newPartition(len(all) + groups)
	for i, within := range joinSetsOf(all) {
		parts.join(i, within)
	}
	l.each(func(i, j int) {
		if i < len(all) && j >= len(all) && l.of[j][i] {
			parts.join(i, len(all)+of[j-len(all)])
		}
	})
	return parts
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// mixedOf returns the cluster of StatefulSets that are sorted by name and groups of pods. It returns false for
// more members than any cluster has.
func mixedOf(sets []listedSet, groups []PodGroup) (Mixed, bool) {
	owners := ownerOfSets(sets)
	m := Mixed{Owner: owners[0], listed: map[etcdconf.Peer]bool{}}
	if len(owners) > 1 {
		return m, false
	}
	known, names := map[etcdconf.Peer]bool{}, map[string]bool{}
	for _, set := range sets {
		m.sets = append(m.sets, set.sts.Name)
		m.list(set.peers.Others, names)
		for _, e := range set.peers.Own {
			known[e] = true
		}
	}
	for _, g := range groups {
		m.groups = append(m.groups, g.Owner.Key())
		m.Owner.MemberChanges = append(m.Owner.MemberChanges, changesBeside(g.Owner)...)
		m.Owner.PeersUnknown = cmp.Or(m.Owner.PeersUnknown, g.Owner.PeersUnknown)
		for _, pod := range g.Pods {
			shown := source.ShownPeersOf(pod)
			m.Owner.PodsBeside = append(m.Owner.PodsBeside, pod.Name)
			m.list(shown.Listed, names)
			for _, e := range shown.Own {
				known[e] = true
			}
		}
	}
	slices.Sort(m.Owner.PodsBeside)
	m.Owner.Elsewhere = 0
	for e := range m.listed {
		m.Owner.Elsewhere += toInt(!known[e])
	}
	m.Owner.Listed = len(names)
	return m, int(m.Owner.Replicas)+len(m.Owner.PodsBeside) <= MaxMembersRead
}

// list records entries of a list.
func (m *Mixed) list(entries []etcdconf.Peer, names map[string]bool) {
	for _, e := range entries {
		m.listed[e], names[e.Name] = true, true
	}
}

// With returns the owner with what the pods of one of its parts execute by mounted scripts.
func (m *Mixed) With(part Owner) Owner {
	out := m.Owner
	if part.Key() == out.Key() {
		out.Mounted = part.Mounted
	}
	for _, change := range changesBeside(part) {
		if !slices.ContainsFunc(out.MemberChanges, func(c etcdconf.MemberChange) bool { return c == change }) {
			out.MemberChanges = append(slices.Clip(out.MemberChanges), change)
		}
	}
	return out
}

// changesBeside returns the member changes of a part of a mixed cluster. Those of pods have the name of what made them.
func changesBeside(part Owner) []etcdconf.MemberChange {
	if !part.WithoutStatefulSet() {
		return part.MemberChanges
	}
	out := slices.Clone(part.MemberChanges)
	for i, change := range part.MemberChanges {
		out[i].Workload = cmp.Or(change.Workload, part.Name)
	}
	return out
}

// WithPods replaces the owners that are parts of clusters of StatefulSets and pods by these.
func WithPods(owners []Owner, mixed []Mixed) []Owner {
	var out []Owner
	placed := map[int]int{}
	for _, o := range owners {
		at := slices.IndexFunc(mixed, func(m Mixed) bool { return m.Has(o) })
		if at < 0 {
			out = append(out, o)
			continue
		}
		if _, is := placed[at]; !is {
			placed[at] = len(out)
			out = append(out, mixed[at].Owner)
		}
		mixed[at].Owner = mixed[at].With(o)
		out[placed[at]] = mixed[at].Owner
	}
	return out
}
