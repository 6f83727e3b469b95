// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// listedPod is a pod with what its etcd is configured with.
type listedPod struct {
	pod   *corev1.Pod
	owner Owner
	// key is of what joins pods by itself: the object that owns them, or the manifest that
	// nodes run a static pod from where its list can't be read. Empty for none.
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

// listedPodsOf returns pods with what their etcds are configured with.
func listedPodsOf(pods []*corev1.Pod) []listedPod {
	out := make([]listedPod, 0, len(pods))
	for _, pod := range pods {
		out = append(out, listedPodOf(pod))
	}
	partSingles(out)
	return out
}

func listedPodOf(pod *corev1.Pod) listedPod {
	p := listedPod{pod: pod, owner: OfPod(pod)}
	ref := metav1.GetControllerOfNoCopy(pod)
	shown := source.ShownPeersOf(pod)
	p.self, p.peers, p.unknown = shown.Own, shown.Listed, shown.Unknown
	switch {
	case ref == nil:
	case ref.Kind == "Node":
		if p.unknown != "" && !p.namesOthers() {
			p.key = "manifest " + manifestOf(pod)
		}
	case ref.Kind == "DaemonSet" && GroupOf(ref) == "apps":
		// Each of its pods is a member, or a cluster of its own: their lists decide.
	case p.named() && p.unknown == "":
		// Its labels name an operator's cluster, and join nothing: the lists decide.
	default:
		p.key = p.owner.Kind + " " + p.owner.Name
	}
	return p
}

// named reports whether only the labels of a pod show the operator's cluster that it is in.
func (p *listedPod) named() bool {
	known, ok := flavour.OfPod(p.pod)
	return ok && !known.Controlled
}

// manifestOf returns the name of a static pod without its node's, which the kubelet appends.
func manifestOf(pod *corev1.Pod) string { return strings.TrimSuffix(pod.Name, "-"+pod.Spec.NodeName) }

// partSingles removes the key from single etcds of which Kubernetes keeps several for one workload. They are clusters
// of their own. Where each ReplicaSet has only one pod, two pods are the old and the new one of a rolling update or of
// a lost node, and stay one cluster, so that its name stays the Deployment's. So do pods that advertise one address:
// the others know them as one member.
func partSingles(pods []listedPod) {
	kept, several := map[scoped]int{}, map[scoped]bool{}
	for _, p := range pods {
		if ref := metav1.GetControllerOfNoCopy(p.pod); p.isReplica() && p.pod.DeletionTimestamp == nil {
			set := scoped{namespace: p.pod.Namespace, key: ref.Kind + " " + ref.Name}
			kept[set]++
			if kept[set] > 1 {
				several[scoped{namespace: p.pod.Namespace, key: p.key}] = true
			}
		}
	}
	for i := range pods {
		if p := &pods[i]; several[scoped{namespace: p.pod.Namespace, key: p.key}] && p.isAlone() {
			p.key = p.advertised()
		}
	}
}

// isReplica reports whether Kubernetes creates equal pods for the workload of a pod. An operator's pods differ, and
// what it starts one with need not show its cluster.
func (p *listedPod) isReplica() bool {
	by := p.owner.Controller
	if by == nil || p.key == "" {
		return false
	}
	return GroupOf(by) == appsv1.GroupName || GroupOf(by) == corev1.GroupName && by.Kind == "ReplicationController"
}

// isAlone reports whether a pod shows that it is the only member of its cluster: its list is known, and names no other.
func (p *listedPod) isAlone() bool { return p.unknown == "" && !p.namesOthers() }

// namesOthers reports whether a pod lists a name that is not its own.
func (p *listedPod) namesOthers() bool {
	return slices.ContainsFunc(p.peers, func(e etcdconf.Peer) bool {
		return !slices.ContainsFunc(p.self, func(own etcdconf.Peer) bool { return own.Name == e.Name })
	})
}

// advertised returns the key of a single etcd by the entries that it advertises, empty if none identifies it.
func (p *listedPod) advertised() string {
	var entries []string
	for _, e := range p.self {
		if e.Identifies() {
			entries = append(entries, e.Name+"="+e.URL)
		}
	}
	if len(entries) == 0 {
		return ""
	}
	return p.key + " at " + strings.Join(entries, ",")
}
