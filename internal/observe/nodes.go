// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// nodeState is what the node of a pod shows. The zero value is that of a node that is not known: the user may not read
// it, or the API server does not answer. Nothing is concluded from that.
type nodeState struct {
	zone string
	// lost is why the pod is not to be counted on, empty if it is. since is when that began, zero if it is not known.
	lost  string
	since time.Time
}

// nodesOf reads the nodes of pods, each once, by name. The cache of a manager may not have a new node yet, so one that
// it lacks is read from the API server before it counts as one that does not exist.
func (r *Reader) nodesOf(ctx context.Context, pods []*corev1.Pod) map[string]nodeState {
	names := map[string]bool{}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			names[pod.Spec.NodeName] = true
		}
	}
	var mu sync.Mutex
	out := make(map[string]nodeState, len(names))
	var group errgroup.Group
	group.SetLimit(readsAtOnce)
	for name := range names {
		group.Go(func() error {
			state := r.nodeState(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			out[name] = state
			return nil
		})
	}
	_ = group.Wait() // no read fails: what can't be read is not known
	return out
}

// nodeState reads a node.
func (r *Reader) nodeState(ctx context.Context, name string) (state nodeState) {
	var node corev1.Node
	switch found, err := r.Fetch(ctx, "", name, &node); {
	case err != nil:
	case !found:
		state.lost, state.since = podstate.NodeLost(name, nil)
	default:
		state.zone = node.Labels[spread.ZoneKey]
		state.lost, state.since = podstate.NodeLost(name, &node)
	}
	return state
}

// NodeLost returns why the node of a pod is lost, empty for one that is well or not known. pod may be nil.
func (r *Reader) NodeLost(ctx context.Context, pod *corev1.Pod) string {
	if pod == nil || pod.Spec.NodeName == "" {
		return ""
	}
	return r.nodeState(ctx, pod.Spec.NodeName).lost
}

// memberOf returns what a pod and its node show about its member.
func memberOf(pod *corev1.Pod, nodes map[string]nodeState) policy.Member {
	node := nodes[pod.Spec.NodeName]
	return policy.Member{
		Pod: pod.Name, Exists: true, PodReady: podstate.Ready(pod),
		Node: pod.Spec.NodeName, Zone: node.zone, NodeLost: node.lost,
	}
}

// addMember adds a member. PodReady stays as the disruption controller counts it, whether its node is lost or not.
func (f *Facts) addMember(m policy.Member) {
	if m.NodeLost != "" {
		m = m.LoseNode(m.NodeLost)
	}
	f.Cluster.Members = append(f.Cluster.Members, m)
}

// WithNodes returns pods as they will be when Kubernetes has noticed which nodes are lost: those on such nodes are not
// Ready, and their condition has the reason. Now is the time since when that is so if nothing else shows it.
func (r *Reader) WithNodes(ctx context.Context, pods []*corev1.Pod, now time.Time) []*corev1.Pod {
	nodes := r.nodesOf(ctx, pods)
	out := make([]*corev1.Pod, 0, len(pods))
	for _, pod := range pods {
		if node := nodes[pod.Spec.NodeName]; node.lost != "" {
			if node.since.IsZero() {
				node.since = now
			}
			pod = podstate.OnLostNode(pod, node.lost, node.since)
		}
		out = append(out, pod)
	}
	return out
}
