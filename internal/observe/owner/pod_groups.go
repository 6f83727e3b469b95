// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// PodGroup is one cluster of pods that no StatefulSet made.
type PodGroup struct {
	Owner Owner
	Pods  []*corev1.Pod
}

// GroupPods finds the clusters among pods that no StatefulSet made. Two pods are of one cluster
// if one object owns both, or if one lists the name and the peer URL of the other and no list contradicts
// it: see listings.join. Neither labels nor single names join pods.
func GroupPods(pods []corev1.Pod) []PodGroup {
	var members []listedPod
	for i := range pods {
		if IsPodsMember(&pods[i]) {
			members = append(members, listedPodOf(&pods[i]))
		}
	}
	groups := make([]PodGroup, 0, len(members))
	for _, joined := range join(members) {
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

// listedPod is a pod with what its etcd is configured with.
type listedPod struct {
	pod   *corev1.Pod
	owner Owner
	// key is of what joins pods by itself: the object that owns them, or the manifest that
	// nodes run a static pod from where its configuration can't be read. Empty for none.
	key string
	// self and peers are entries of an initial cluster: the pod's own, and all that it lists. unknown
	// is why it may list more, empty for no more.
	self, peers []etcdconf.Peer
	unknown     string
	// contested is why it may be in the cluster of another pod, empty for none.
	contested string
	// later is true if its list alone shows that it joined the others.
	later bool
}

func listedPodOf(pod *corev1.Pod) listedPod {
	p := listedPod{pod: pod, owner: OfPod(pod)}
	ref := metav1.GetControllerOfNoCopy(pod)
	shown := source.ShownPeersOf(pod)
	p.self, p.peers, p.unknown = shown.Own, shown.Listed, shown.Unknown
	switch {
	case ref == nil:
	case ref.Kind == "Node":
		if len(p.peers) == 0 {
			p.key = "manifest " + manifestOf(pod)
		}
	case ref.Kind == "DaemonSet" && GroupOf(ref) == "apps":
		// Each of its pods is a member, or a cluster of its own: their lists decide.
	default:
		p.key = p.owner.Kind + " " + p.owner.Name
	}
	return p
}

// manifestOf returns the name of a static pod without its node's, which the kubelet appends.
func manifestOf(pod *corev1.Pod) string { return strings.TrimSuffix(pod.Name, "-"+pod.Spec.NodeName) }

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
		for _, change := range etcdconf.MemberChanges(m.pod, nil) {
			if !slices.Contains(g.Owner.MemberChanges, change) { // pods of one controller have the same
				g.Owner.MemberChanges = append(g.Owner.MemberChanges, change)
			}
		}
	}
	g.Owner.Replicas = int32(min(len(members), MaxMembers))
	if len(members) == 1 && !IsMadeByOperator(members[0].pod) {
		g.Owner.PeersUnknown = members[0].unknown
	}
	for _, m := range members {
		g.Owner.PeersUnknown = cmp.Or(g.Owner.PeersUnknown, m.contested)
	}
	return g
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
		}
	}
}
