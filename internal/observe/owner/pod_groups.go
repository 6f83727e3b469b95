// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// PodGroup is one cluster of pods that no StatefulSet made.
type PodGroup struct {
	Owner Owner
	Pods  []*corev1.Pod
}

// GroupPods finds the clusters among pods that no StatefulSet made. Two pods are of one cluster
// if one object owns both, or if one lists the name and the peer URL of the other and no list contradicts
// it: see listings.join. Pods of an object are not joined if each shows that it is a cluster of its own: see
// partSingles. Neither labels nor single names join pods.
func GroupPods(pods []corev1.Pod) []PodGroup {
	var members []*corev1.Pod
	for i := range pods {
		if IsPodsMember(&pods[i]) {
			members = append(members, &pods[i])
		}
	}
	groups := make([]PodGroup, 0, len(members))
	for _, joined := range join(listedPodsOf(members)) {
		groups = append(groups, groupOfPods(joined))
	}
	nameApart(groups)
	slices.SortFunc(groups, func(a, b PodGroup) int {
		return cmp.Or(cmp.Compare(a.Owner.Namespace, b.Owner.Namespace), cmp.Compare(a.Owner.Kind, b.Owner.Kind), cmp.Compare(a.Owner.Name, b.Owner.Name))
	})
	return groups
}

// MembersOf returns the function that reports whether a pod is a member of an owner's cluster.
func MembersOf(owner Owner, pods []corev1.Pod) func(*corev1.Pod) bool {
	var members []*corev1.Pod
	for _, g := range GroupPods(pods) {
		if g.Owner.Key() == owner.Key() {
			members = g.Pods
		}
	}
	return func(pod *corev1.Pod) bool { return slices.Contains(members, pod) }
}

// join returns the pods of each cluster, in the order of the first ones, and notes for each pod why it
// may be in another one.
func join(members []listedPod) [][]listedPod {
	all := make([]lister, 0, len(members))
	for _, m := range members {
		all = append(all, lister{namespace: m.pod.Namespace, key: m.key, self: m.self, listed: m.peers})
	}
	l := listingsOf(all)
	parts, later := l.join()
	alone := map[int]int{}
	for i := range members {
		alone[parts.first(i)]++
		members[i].later = later[l.keys.first(i)]
	}
	l.each(func(i, j int) {
		if parts.first(i) == parts.first(j) {
			return
		}
		is := " is not known to be in the same cluster"
		members[i].contested = cmp.Or(members[i].contested, "its list names pod "+members[j].pod.Name+", which"+is)
		if alone[parts.first(j)] == 1 {
			members[j].contested = cmp.Or(members[j].contested, "pod "+members[i].pod.Name+" lists it, which"+is)
		}
	})
	return grouped(parts, members)
}

// groupOfPods returns the cluster of pods that belong together. If they have different owners,
// the cluster has the name of the first one that was not added later, and the kind of pods that no
// single object owns.
func groupOfPods(members []listedPod) PodGroup {
	slices.SortFunc(members, func(a, b listedPod) int {
		return cmp.Or(toInt(a.later)-toInt(b.later), cmp.Compare(a.owner.Name, b.owner.Name), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	g := PodGroup{Owner: members[0].owner}
	for _, m := range members {
		if m.owner.Kind != g.Owner.Kind || m.owner.Name != g.Owner.Name {
			g.Owner.APIVersion, g.Owner.Kind, g.Owner.UID, g.Owner.Controller = "v1", podsKind, "", nil
		}
		g.Pods = append(g.Pods, m.pod)
	}
	g.Owner.MemberChanges = ChangesOfPods(g.Pods, func(pod *corev1.Pod) []etcdconf.MemberChange { return etcdconf.MemberChanges(pod, nil) })
	g.Owner.Replicas = int32(min(len(members), MaxMembersRead))
	if !IsMadeByOperator(members[0].pod) { // an operator's lists are from when it made each pod
		g.Owner.Unmatched = unmatched(members)
		if len(members) == 1 {
			g.Owner.PeersUnknown = members[0].unknown
		}
	}
	for _, m := range members {
		g.Owner.PeersUnknown = cmp.Or(g.Owner.PeersUnknown, m.contested)
	}
	return g
}

// ChangesOfPods returns the member changes of pods that no StatefulSet made, as of returns those of each. Where
// they have several owners, each change has the name of its pod's.
func ChangesOfPods(pods []*corev1.Pod, of func(*corev1.Pod) []etcdconf.MemberChange) []etcdconf.MemberChange {
	owners := map[string]bool{}
	for _, pod := range pods {
		o := OfPod(pod)
		owners[o.Kind+" "+o.Name] = true
	}
	var all []etcdconf.MemberChange
	for _, pod := range pods {
		changes := of(pod)
		if len(owners) > 1 && len(changes) > 0 {
			changes = changesOf(OfPod(pod).Name, changes)
		}
		for _, change := range changes {
			if !slices.Contains(all, change) { // pods of one controller have the same
				all = append(all, change)
			}
		}
	}
	return all
}

// nameApart gives clusters that would have one name the names of their first pods.
func nameApart(groups []PodGroup) {
	count := map[string]int{}
	for _, g := range groups {
		count[g.Owner.String()]++
	}
	for i := range groups {
		if o := &groups[i].Owner; count[o.String()] > 1 {
			o.APIVersion, o.Kind, o.Name, o.UID, o.Controller = "v1", podsKind, groups[i].Pods[0].Name, "", nil
			if by := flavour.Of(o.Distribution).Pods; by != nil && by.ClusterLabel != "" { // one label names several clusters
				o.Distribution, o.Selector, o.MemberSelector = ownPod(groups[i].Pods[0]).Distribution, nil, nil
			}
		}
	}
}
