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
)

// PodGroup is one cluster of pods that no StatefulSet made.
type PodGroup struct {
	Owner Owner
	Pods  []*corev1.Pod
}

// GroupPods finds the clusters among pods that no StatefulSet made. Two pods are of one cluster
// if one object owns both, or if one lists the name and the peer URL of the other. Neither
// labels nor single names join pods.
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
}

func listedPodOf(pod *corev1.Pod) listedPod {
	p := listedPod{pod: pod, owner: OfPod(pod)}
	ref := metav1.GetControllerOfNoCopy(pod)
	shown := etcdconf.PeersOfPod(pod)
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

// manifestOf is the name of a static pod without its node's, which the kubelet appends.
func manifestOf(pod *corev1.Pod) string { return strings.TrimSuffix(pod.Name, "-"+pod.Spec.NodeName) }

// join returns the pods of each cluster, in the order of the first ones. It takes linear time,
// since anyone who may create pods decides how many there are.
func join(members []listedPod) [][]listedPod {
	parts := newPartition(len(members))
	type self struct {
		namespace string
		etcdconf.Peer
	}
	keys, selves := map[string]int{}, map[self][]int{}
	for i, m := range members {
		for _, e := range m.self {
			of := self{m.pod.Namespace, e}
			selves[of] = append(selves[of], i)
		}
		if first, known := keys[m.pod.Namespace+"/"+m.key]; known && m.key != "" {
			parts.join(first, i)
		} else {
			keys[m.pod.Namespace+"/"+m.key] = i
		}
	}
	for i, m := range members {
		for _, e := range m.peers {
			for _, j := range selves[self{m.pod.Namespace, e}] {
				parts.join(i, j)
			}
		}
	}
	return grouped(parts, members)
}

// groupOfPods returns the cluster of pods that belong together. If they have different owners,
// the cluster has the first one's name and the kind of pods that no single object owns.
func groupOfPods(members []listedPod) PodGroup {
	slices.SortFunc(members, func(a, b listedPod) int {
		return cmp.Or(cmp.Compare(a.owner.Name, b.owner.Name), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	g := PodGroup{Owner: members[0].owner}
	for _, m := range members {
		if m.owner.Kind != g.Owner.Kind || m.owner.Name != g.Owner.Name {
			g.Owner.APIVersion, g.Owner.Kind, g.Owner.UID, g.Owner.Controller = "v1", podsKind, "", nil
		}
		g.Pods = append(g.Pods, m.pod)
	}
	g.Owner.Replicas = int32(min(len(members), MaxMembers))
	if len(members) == 1 && !IsMadeByOperator(members[0].pod) {
		g.Owner.PeersUnknown = members[0].unknown
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
