// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// NodeReady reports whether a node is Ready. A node without the condition counts, too: no kubelet has
// reported yet.
func NodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// CutOff reports whether a machine may run although its node isn't Ready. The taint of a node out of service is the
// user's word that the machine is off.
func CutOff(n *corev1.Node) bool {
	return !NodeReady(n) && !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// temporaryTaints are the taints of a node that is unavailable for a while: cordoned, not ready, short
// of a resource, shut down. Terms that were chosen without such nodes would be wrong an hour later, and would
// allow two members in one zone while another zone is down.
var temporaryTaints = map[string]bool{
	corev1.TaintNodeUnschedulable:      true,
	corev1.TaintNodeNotReady:           true,
	corev1.TaintNodeUnreachable:        true,
	corev1.TaintNodeMemoryPressure:     true,
	corev1.TaintNodeDiskPressure:       true,
	corev1.TaintNodePIDPressure:        true,
	corev1.TaintNodeNetworkUnavailable: true,
	// The cloud's node controller sets it on a node whose machine is stopped (k8s.io/cloud-provider/api).
	"node.cloudprovider.kubernetes.io/shutdown": true,
}

// allNodes lists the nodes. They are objects of the cache, which must not be changed.
func allNodes(ctx context.Context, r *observe.Reader) ([]corev1.Node, error) {
	var all corev1.NodeList
	if err := r.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return all.Items, nil
}

// eligibleNodes lists the nodes that match a pod's node selector, required node affinity and
// tolerations, as the scheduler reads them. They are objects of the cache, which must not be changed.
func eligibleNodes(ctx context.Context, r *observe.Reader, pod *corev1.Pod) ([]*corev1.Node, error) {
	all, err := allNodes(ctx, r)
	if err != nil {
		return nil, err
	}
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	var nodes []*corev1.Node
	for i := range all {
		node := &all[i]
		// The API server rejects an affinity that can't be parsed.
		if ok, err := required.Match(node); err != nil || !ok {
			continue
		}
		_, untolerated := schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, pod.Spec.Tolerations, isLastingTaint, true)
		if !untolerated {
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

// clusterZones returns how many zones all nodes have.
func clusterZones(ctx context.Context, r *observe.Reader, zoneKey string) (int, error) {
	nodes, err := allNodes(ctx, r)
	all := make([]spread.Node, 0, len(nodes))
	for i := range nodes {
		all = append(all, spread.Node{Zone: nodes[i].Labels[zoneKey]})
	}
	return zonesIn(all), err
}

func zonesIn(nodes []spread.Node) int {
	zones := map[string]bool{}
	for _, n := range nodes {
		if n.Zone != "" {
			zones[n.Zone] = true
		}
	}
	return len(zones)
}
