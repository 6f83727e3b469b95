// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Workload is one of the StatefulSets of a cluster that spans several.
type Workload struct {
	Name         string
	UID          types.UID
	Replicas     int32
	FirstOrdinal int32
	Claims       []Claim
}

// Spans reports whether the members are those of several StatefulSets.
func (o Owner) Spans() bool { return len(o.Workloads) > 0 }

// Runs reports whether a StatefulSet with a name is a workload of the cluster.
func (o Owner) Runs(statefulSet string) bool {
	return o.StatefulSet == statefulSet || slices.ContainsFunc(o.Workloads, func(w Workload) bool { return w.Name == statefulSet })
}

// RefersTo reports whether the text that Ref returned once is that of this owner, or of a workload
// that has joined it since.
func (o Owner) RefersTo(ref string) bool {
	return ref == o.Ref() || slices.ContainsFunc(o.Workloads, func(w Workload) bool {
		return ref == Key{Kind: "StatefulSet", Name: w.Name}.Ref()
	})
}

// Size returns how many members the owner and the members' own lists name.
func (o Owner) Size() int { return max(int(o.Replicas)+o.MembersElsewhere(), o.MembersListed()) }

// WorkloadNames returns the names of the StatefulSets of a cluster that spans several, as in
// messages.
func (o Owner) WorkloadNames() string {
	if !o.Spans() {
		return o.StatefulSet
	}
	var names []string
	for _, w := range o.Workloads {
		names = append(names, w.Name)
	}
	return policy.List(names)
}

// Executing returns the owner with what the pods of one of its StatefulSets execute, also by mounted
// scripts: alone is the owner of that StatefulSet as if it ran all of the cluster.
func (o Owner) Executing(alone Owner) Owner {
	if alone.Key() == o.Key() {
		o.Mounted = alone.Mounted
	}
	switch {
	case o.Spans():
		others := slices.DeleteFunc(slices.Clone(o.MemberChanges), func(m etcdconf.MemberChange) bool { return m.Workload == alone.StatefulSet })
		o.MemberChanges = append(others, changesOf(alone.StatefulSet, alone.MemberChanges)...)
	case alone.Key() == o.Key():
		o.MemberChanges = alone.MemberChanges
	}
	return o
}

// changesOf returns the member changes of one workload of a cluster of several.
func changesOf(workload string, changes []etcdconf.MemberChange) []etcdconf.MemberChange {
	out := slices.Clone(changes)
	for i := range out {
		out[i].Workload = workload
	}
	return out
}

// listedSet is a StatefulSet that runs etcd, with what its members list.
type listedSet struct {
	sts   *appsv1.StatefulSet
	peers source.Peers
	// late is true if it joined its cluster later than the others, as its list alone shows.
	late bool
}

// Spanning returns the clusters of the StatefulSets of one namespace whose members list members of
// others, by name. Two are of one cluster if each lists a member of the other. A list alone is written by
// anyone who may create a StatefulSet, so it joins one only in the stead of a member that is missing.
func Spanning(sets []*appsv1.StatefulSet) []Owner {
	var all []listedSet
	for _, sts := range sets {
		// The peers first: a cached StatefulSet has them, and its script need not be parsed.
		peers := source.PeersOf(sts)
		if len(peers.Others) == 0 {
			continue
		}
		if _, ok := Standalone(sts); ok {
			all = append(all, listedSet{sts: sts, peers: peers})
		}
	}
	slices.SortFunc(all, func(a, b listedSet) int { return cmp.Compare(a.sts.Name, b.sts.Name) })
	var owners []Owner
	for _, group := range joinSets(all) {
		owners = append(owners, ownerOfSets(group)...)
	}
	return owners
}

// joinSets returns the StatefulSets of each cluster. One that was added later joins only if no more were
// added than members are missing that the older lists name.
func joinSets(all []listedSet) [][]listedSet {
	sets := make([]lister, 0, len(all))
	for _, set := range all {
		sets = append(sets, lister{self: set.peers.Own, listed: set.peers.Others})
	}
	l := listingsOf(sets)
	later := make([]int, len(all))
	l.each(func(newer, older int) {
		if !l.of[older][newer] {
			later[older]++
		}
	})
	parts, late := l.join(func(_, older int) bool { return later[older] <= l.vacant[older] })
	for i := range all {
		all[i].late = late[i]
	}
	return grouped(parts, all)
}

// ownerOfSets returns the cluster of StatefulSets that are sorted by name. The first one that was not
// added later leads: the cluster has its name, labels and annotations. Each that was added later counts as
// two: if it is no member, the quorum is that of the others all the same. More members than any cluster has
// are not joined.
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
	if max(replicas, len(group)) > MaxMembers && len(group) > 1 {
		var apart []Owner
		for _, set := range group {
			apart = append(apart, ownerOfSets([]listedSet{set})...)
		}
		return apart
	}
	slices.SortStableFunc(group, func(a, b listedSet) int { return toInt(a.late) - toInt(b.late) })
	o := OfStatefulSet(group[0].sts)
	for _, set := range group {
		o.Elsewhere += toInt(set.late)
	}
	for e := range others {
		if !own[e] {
			o.Elsewhere++
		}
	}
	if len(group) == 1 {
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

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// podNames returns the selector of StatefulSets' pods by their names. No labels of the StatefulSets
// need distinguish the members from other pods.
func podNames(names []string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: appsv1.StatefulSetPodNameLabel, Operator: metav1.LabelSelectorOpIn, Values: names,
	}}}
}

// IsByPodNames reports whether a selector selects StatefulSets' pods by their names, as that of a
// cluster that spans several does.
func IsByPodNames(s *metav1.LabelSelector) bool {
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 1 && s.MatchExpressions[0].Key == appsv1.StatefulSetPodNameLabel
}

// membershipBySets returns how the members of a cluster that spans several StatefulSets change: a
// StatefulSet is added or deleted.
func (o Owner) membershipBySets() flavour.Membership {
	return flavour.Membership{
		Manager: flavour.BySets, ManagerName: "the set of its StatefulSets (" + o.WorkloadNames() + ")",
		ScaleHow: "to add a member, add a learner with " + o.plugin("member add", "--peer-urls URL") + ", create a StatefulSet that runs it " +
			"with all members in --initial-cluster, name it in the lists of the other StatefulSets, and make it a voter with " + o.plugin("member promote", "MEMBER") +
			"; to remove one, " + o.removeHow(),
		ScaleInHow: o.removeHow(),
		ReplaceHow: o.stopAndRemove() +
			", delete its PersistentVolumeClaim, add a learner with " + o.plugin("member add", "--peer-urls URL") +
			", scale the StatefulSet to 1 replica with --initial-cluster-state=existing, and make it a voter with " + o.plugin("member promote", "MEMBER"),
	}
}

func (o Owner) removeHow() string {
	return o.stopAndRemove() + ", delete that StatefulSet, and remove the member from the lists of the others"
}

// stopAndRemove is how a member leaves etcd that could come back with its data: only by --force.
func (o Owner) stopAndRemove() string {
	return "scale the StatefulSet of the member to 0 replicas, remove the member with " + o.plugin("member remove", "MEMBER --force")
}

func (o Owner) plugin(verb, args string) string {
	return fmt.Sprintf("kubectl etcd %s %s %s -n %s", verb, o.Target(), args, o.Namespace)
}

// WithSpanning replaces the owners that are parts of a cluster by that cluster.
func WithSpanning(owners []Owner, sets []*appsv1.StatefulSet) []Owner {
	byNamespace := map[string][]*appsv1.StatefulSet{}
	for _, sts := range sets {
		if len(source.PeersOf(sts).Others) > 0 {
			byNamespace[sts.Namespace] = append(byNamespace[sts.Namespace], sts)
		}
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
