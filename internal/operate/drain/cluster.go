// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

func compareOwners(a, b owner.Owner) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// addCluster adds a cluster with its pods, and puts its members on their nodes.
func (o *observation) addCluster(ctx context.Context, own owner.Owner, facts eviction.Facts, pods []*corev1.Pod) {
	c := drain.Cluster{Facts: facts}
	for _, pod := range pods {
		p := drain.Pod{
			Name: pod.Name, Node: pod.Spec.NodeName, Idle: observe.Idle(pod), Ready: podstate.Ready(pod), Budgets: o.budgetsOf(pod),
			Stays: o.stays(pod),
		}
		for _, t := range terms.Self(pod) {
			apart := t.Hard && (t.Kind == spread.PodAntiAffinity || t.Kind == spread.TopologySpread)
			p.ApartByHost = p.ApartByHost || apart && t.TopologyKey == spread.HostnameKey
			p.ApartByZone = p.ApartByZone || apart && t.TopologyKey == spread.ZoneKey
		}
		if n := o.node(pod.Spec.NodeName); n != nil {
			m := Member{Pod: pod, Owner: own, Stays: p.Stays}
			o.addMember(n, m)
			o.warnData(ctx, n, m)
			p.Hosts, p.HostsUnknown = o.hosts(ctx, own, pod)
		}
		c.Pods = append(c.Pods, p)
	}
	o.Facts.Clusters = append(o.Facts.Clusters, c)
	o.Owners = append(o.Owners, own)
}

// addMember takes a member out of the other pods of its node.
func (o *observation) addMember(n *Node, m Member) {
	n.Members = append(n.Members, m)
	n.Others = slices.DeleteFunc(n.Others, func(p corev1.Pod) bool { return p.UID == m.Pod.UID })
	if m.Stays {
		n.Warnings = append(n.Warnings, fmt.Sprintf("the drain does not evict %s/%s, a member of %s: it stops when the node stops. Stop one such node at a time",
			m.Pod.Namespace, m.Pod.Name, m.Owner))
	}
}

// stays reports whether a drain of its node leaves a pod. If kubectl drain gives up on the node, that is
// only known of pods that no drain evicts.
func (o *observation) stays(pod *corev1.Pod) bool {
	if o.evicted[pod.UID] || o.unlisted[pod.Spec.NodeName] {
		return false
	}
	at := slices.IndexFunc(o.Facts.Nodes, func(n drain.Node) bool { return n.Name == pod.Spec.NodeName })
	if at < 0 || len(o.Facts.Nodes[at].Fails) == 0 {
		return true
	}
	_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
	ref := metav1.GetControllerOfNoCopy(pod)
	return static || ref != nil && ref.Kind == "DaemonSet"
}

// hosts returns the nodes that can run a member, or why they are not known.
func (o *observation) hosts(ctx context.Context, own owner.Owner, pod *corev1.Pod) (names []string, unknown string) {
	if denies(o.Unseen, "nodes") {
		return nil, "you may not list nodes"
	}
	f, err := scheduling.Facts(ctx, o.reader, own, pod, spread.ZoneKey)
	if err != nil {
		return nil, err.Error()
	}
	var volume spread.Volume
	if f.Ordinal >= 0 && f.Ordinal < len(f.Volumes) {
		volume = f.Volumes[f.Ordinal]
	}
	for _, n := range f.Nodes {
		if volume.State != spread.Bound || volume.AnyNode || slices.Contains(volume.Nodes, n.Name) {
			names = append(names, n.Name)
		}
	}
	return names, ""
}
