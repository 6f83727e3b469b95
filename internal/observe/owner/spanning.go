// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// listedSet is a StatefulSet that runs etcd, with what its members list.
type listedSet struct {
	sts   *appsv1.StatefulSet
	peers source.Peers
	// listedBy are the StatefulSets that list a member of this one, which does not list them, by name.
	listedBy []*listedSet
}

// Spanning returns the clusters of the StatefulSets of one namespace whose members list members of
// others, by name, and those that others list. Two are of one cluster if each lists a member of the other.
// A list that is not returned joins nothing: anyone who may create a StatefulSet can write one. But it may
// be true, so a StatefulSet that is listed and lists no others may have more members: see PeersUnknown. And
// the members of one that lists a cluster count there while they are not ready: see Unready.
func Spanning(sets []*appsv1.StatefulSet) []Owner {
	var owners []Owner
	for _, group := range joinSets(listedSetsOf(sets)) {
		if len(group[0].peers.Others)+len(group[0].listedBy) > 0 {
			owners = append(owners, ownerOfSets(group)...)
		}
	}
	return owners
}

// listedSetsOf returns the StatefulSets that show members, by name.
func listedSetsOf(sets []*appsv1.StatefulSet) []listedSet {
	var all []listedSet
	for _, sts := range sets {
		// The peers first: a cached StatefulSet has them, and its script need not be parsed.
		if peers := source.PeersOf(sts); len(peers.Others)+len(peers.Own) > 0 {
			all = append(all, listedSet{sts: sts, peers: peers})
		}
	}
	all = slices.DeleteFunc(all, func(set listedSet) bool { return !isStandalone(set.sts) })
	slices.SortFunc(all, func(a, b listedSet) int { return cmp.Compare(a.sts.Name, b.sts.Name) })
	return all
}

// joinSets returns the StatefulSets of each cluster, and notes which StatefulSets list them.
func joinSets(all []listedSet) [][]listedSet { return grouped(joinSetsOf(all), all) }

// joinSetsOf returns the clusters of StatefulSets, and notes which StatefulSets list them.
func joinSetsOf(all []listedSet) partition {
	sets := make([]lister, 0, len(all))
	for _, set := range all {
		sets = append(sets, lister{self: set.peers.Own, listed: set.peers.Others})
	}
	l := listingsOf(sets)
	l.each(func(i, j int) {
		if !l.of[j][i] {
			all[j].listedBy = append(all[j].listedBy, &all[i])
		}
	})
	return l.mutual()
}

// ownerOfSets returns the cluster of StatefulSets that are sorted by name. The first one leads: the cluster
// has its name, labels and annotations. More members than any cluster has are not joined.
func ownerOfSets(group []listedSet) []Owner {
	replicas, others, own := 0, map[etcdconf.Peer]bool{}, map[etcdconf.Peer]bool{}
	for _, set := range group {
		replicas += int(OfStatefulSet(set.sts).Replicas)
		for _, e := range set.peers.Others {
			others[e] = true
		}
		for _, e := range set.peers.Own {
			own[e] = true
		}
	}
	if max(replicas, len(group)) > MaxMembersRead && len(group) > 1 {
		var apart []Owner
		for _, set := range group {
			apart = append(apart, ownerOfSets([]listedSet{set})...)
		}
		return apart
	}
	o := OfStatefulSet(group[0].sts)
	for e := range others {
		if !own[e] {
			o.Elsewhere++
		}
	}
	o.addListers(group, others)
	if len(group) == 1 {
		o.PeersUnknown, o.ListSelf = peersUnknown(group[0]), group[0].peers.Separate
		return []Owner{o}
	}
	names := map[string]bool{}
	for e := range others {
		names[e.Name] = true
	}
	o.Ordered, o.Replicas, o.Listed, o.MemberChanges = false, int32(replicas), len(names), nil
	var pods []string
	for _, set := range group {
		part := OfStatefulSet(set.sts)
		o.Workloads = append(o.Workloads, Workload{
			Name: part.Name, UID: part.UID, Replicas: part.Replicas, FirstOrdinal: part.FirstOrdinal, Claims: part.Claims,
		})
		o.MemberChanges = append(o.MemberChanges, changesOf(part.StatefulSet, part.MemberChanges)...)
		for i := range int(part.Replicas) {
			pods = append(pods, part.PodName(i))
		}
	}
	o.Selector = podNames(pods)
	o.MemberSelector = o.Selector
	return []Owner{o}
}

// peersUnknown returns why a StatefulSet may have members beside those that it lists. It is empty where a
// known product made it, which makes one StatefulSet for a cluster.
func peersUnknown(set listedSet) string {
	if ref := metav1.GetControllerOf(set.sts); ref != nil && flavour.Controls(ref) {
		return ""
	}
	if len(set.listedBy) > 0 && set.peers.Unknown == "" {
		by := set.listedBy[0].sts.Name
		return fmt.Sprintf("StatefulSet %s lists it as a member, and its own list does not name %s", by, by)
	}
	return set.peers.Unknown
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// WithSpanning replaces the owners that are parts of a cluster by that cluster.
func WithSpanning(owners []Owner, sets []*appsv1.StatefulSet) []Owner {
	byNamespace := map[string][]*appsv1.StatefulSet{}
	for _, sts := range sets {
		byNamespace[sts.Namespace] = append(byNamespace[sts.Namespace], sts)
	}
	whole, first := map[Key]Owner{}, map[Key]Key{}
	for _, within := range byNamespace {
		for _, o := range Spanning(within) {
			whole[o.Key()], first[o.Key()] = o, o.Key()
			for _, w := range o.Workloads {
				first[Key{Kind: o.Kind, Namespace: o.Namespace, Name: w.Name}] = o.Key()
			}
		}
	}
	for _, o := range owners {
		if at, part := first[o.Key()]; part {
			whole[at] = whole[at].Executing(o)
		}
	}
	var out []Owner
	for _, o := range owners {
		at, part := first[o.Key()]
		switch {
		case !part:
			out = append(out, o)
		case at == o.Key():
			out = append(out, whole[at])
		}
	}
	return out
}
