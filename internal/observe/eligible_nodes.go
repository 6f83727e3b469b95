// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// temporaryTaints are the taints of a node that comes back: cordoned, not ready, short
// of something for now. A spread planned without such nodes would be wrong an
// hour later, and would let two members into one zone while another is away.
var temporaryTaints = map[string]bool{
	corev1.TaintNodeUnschedulable:      true,
	corev1.TaintNodeNotReady:           true,
	corev1.TaintNodeUnreachable:        true,
	corev1.TaintNodeMemoryPressure:     true,
	corev1.TaintNodeDiskPressure:       true,
	corev1.TaintNodePIDPressure:        true,
	corev1.TaintNodeNetworkUnavailable: true,
}

// eligibleNodes are the nodes that match the pod's node selector, required node
// affinity and tolerations, as the scheduler reads them. They are the cache's
// own objects: nothing may change them.
func (r *Reader) eligibleNodes(ctx context.Context, pod *corev1.Pod) ([]*corev1.Node, error) {
	var all corev1.NodeList
	if err := r.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	var nodes []*corev1.Node
	for i := range all.Items {
		node := &all.Items[i]
		// An affinity that can't be parsed is the API server's to refuse.
		if ok, err := required.Match(node); err != nil || !ok {
			continue
		}
		_, kept := schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, pod.Spec.Tolerations, isLastingTaint, true)
		if !kept {
			nodes = append(nodes, node)
		}
	}
	return nodes, nil
}

func isLastingTaint(t *corev1.Taint) bool {
	return (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute) && !temporaryTaints[t.Key]
}

func spreadNodes(nodes []*corev1.Node, zoneKey string) []spread.Node {
	out := make([]spread.Node, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, spread.Node{Name: n.Name, Zone: n.Labels[zoneKey]})
	}
	return out
}
