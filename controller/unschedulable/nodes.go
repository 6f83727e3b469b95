// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package unschedulable

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// nodesSettle is how long the nodes that a pod may use must be the same, until its terms are decided again
// by them. A node that is replaced, or that an autoscaler adds, takes less: it is the default of
// cluster-autoscaler's max-node-provision-time.
const nodesSettle = 15 * time.Minute

// seenNodes is what a pod may use: the zones with the number of their nodes.
type seenNodes struct {
	pod   types.UID
	nodes string
	since time.Time
}

// nodesSince returns since when a pod may use the same nodes, as far as this leader has seen. Of a zone with
// more nodes than members, it doesn't matter how many these are.
func (u *Reconciler) nodesSince(pod *corev1.Pod, f spread.Facts) time.Time {
	in := map[string]int{}
	for _, n := range f.Nodes {
		in[n.Zone] = min(in[n.Zone]+1, f.Size)
	}
	now := seenNodes{pod: pod.UID, nodes: fmt.Sprint(in, min(f.ClusterZones, 2)), since: u.Clock.Now()}
	return u.nodes.Update(client.ObjectKeyFromObject(pod), func(before seenNodes) seenNodes {
		if before.pod == now.pod && before.nodes == now.nodes {
			return before
		}
		return now
	}).since
}
