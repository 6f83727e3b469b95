// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package scheduling reads the facts of the spread rule: the nodes on which a member's pod may run, their
// zones, the volumes that tie members to nodes, and the terms and nodes of the members that run. It decides
// nothing. webhook, controller and the plugin call it.
package scheduling

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Facts reads the facts of the spread rule for a member's pod that is about to be created.
// zoneKey is the node label that names the zone.
func Facts(ctx context.Context, r *observe.Reader, o owner.Owner, pod *corev1.Pod, zoneKey string) (spread.Facts, error) {
	f, nodes, err := factsOfCluster(ctx, r, o, pod, zoneKey, 0, pod.Name)
	if err != nil {
		return spread.Facts{}, err
	}
	var names []string
	if o.WithoutStatefulSet() {
		if names, err = assignOrdinals(ctx, r, o, pod, &f); err != nil {
			return spread.Facts{}, err
		}
	} else {
		for i := range min(f.Size, owner.MaxMembers) {
			names = append(names, o.PodName(i))
		}
	}
	f.Volumes, err = readVolumes(ctx, r, o, pod, names, nodes)
	return f, err
}

// FactsOfCluster reads the same facts for the next member, of whatever ordinal: without the volumes,
// which tie single members to nodes. pod may have the name of a member that runs.
func FactsOfCluster(ctx context.Context, r *observe.Reader, o owner.Owner, pod *corev1.Pod, zoneKey string) (spread.Facts, error) {
	f, _, err := factsOfCluster(ctx, r, o, pod, zoneKey, 0, "")
	return f, err
}

// FactsOfSize reads them as if the cluster had a size.
func FactsOfSize(ctx context.Context, r *observe.Reader, o owner.Owner, pod *corev1.Pod, zoneKey string, size int) (spread.Facts, error) {
	f, _, err := factsOfCluster(ctx, r, o, pod, zoneKey, size, "")
	return f, err
}

// factsOfCluster reads the facts without the volumes. A size of 0 is that of the cluster. except is a pod
// that doesn't count as a running member, empty for none.
func factsOfCluster(ctx context.Context, r *observe.Reader, o owner.Owner, pod *corev1.Pod, zoneKey string, size int, except string) (spread.Facts, []*corev1.Node, error) {
	nodes, err := eligibleNodes(ctx, r, pod)
	if err != nil {
		return spread.Facts{}, nil, err
	}
	f := spread.Facts{
		Size:    o.Size(),
		Ordinal: o.Ordinal(pod.Name),
		Ordered: o.Ordered,
		Nodes:   spreadNodes(nodes, zoneKey),
	}
	if f.Ordinal < owner.MaxMembers {
		// A pod beyond the replicas in the cache proves that there are more.
		f.Size = max(f.Size, f.Ordinal+1)
	}
	if size > 0 {
		f.Size = size
	}
	f.OwnKeys, f.OwnSoftKeys = terms.OwnKeys(pod, o)
	switch {
	case len(nodes) == 0:
		f.ClusterZones, err = clusterZones(ctx, r, zoneKey)
	case f.Size > zonesIn(f.Nodes):
		f.RequiredBy, err = requiredBy(ctx, r, o, except)
	}
	return f, nodes, err
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

// requiredBy returns the members that run with a required anti-affinity by its topology key, as admission
// recorded it, without the pod with the name except.
func requiredBy(ctx context.Context, r *observe.Reader, o owner.Owner, except string) (map[string][]string, error) {
	pods, err := r.MemberPods(ctx, o)
	if err != nil {
		return nil, err
	}
	var found map[string][]string
	for _, pod := range pods {
		record, ok := annotation.SpreadRecordOf(pod)
		if !ok || pod.Name == except || pod.DeletionTimestamp != nil || pod.Spec.NodeName == "" {
			continue
		}
		for _, t := range record.Terms {
			if t.Hard && t.Kind == spread.PodAntiAffinity {
				if found == nil {
					found = map[string][]string{}
				}
				found[t.TopologyKey] = append(found[t.TopologyKey], pod.Name)
			}
		}
	}
	return found, nil
}

// Placement reads the nodes and zones of a cluster's members. zoneKey is the node label that names
// the zone.
func Placement(ctx context.Context, r *observe.Reader, o owner.Owner, zoneKey string) ([]policy.Member, error) {
	pods, err := r.MemberPods(ctx, o)
	if err != nil {
		return nil, err
	}
	var members []policy.Member
	for _, pod := range pods {
		m := policy.Member{Pod: pod.Name, Exists: true, Node: pod.Spec.NodeName}
		var node corev1.Node
		if m.Node != "" {
			if _, err := r.Fetch(ctx, "", m.Node, &node); err != nil {
				return nil, fmt.Errorf("observe node %s of pod %s/%s: %w", m.Node, pod.Namespace, pod.Name, err)
			}
		}
		m.Zone = node.Labels[zoneKey]
		members = append(members, m)
	}
	return members, nil
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
