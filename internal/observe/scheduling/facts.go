// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package scheduling reads the facts of the spread rule: the nodes on which a member's pod may run, their
// zones, the volumes that tie members to nodes, and the terms and nodes of the members that run. It decides
// nothing. webhook, controller and the plugin call it.
package scheduling

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

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
		for i := range min(f.Size, owner.MaxMembersRead) {
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
	if f.Ordinal < owner.MaxMembersRead {
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
		f.RequiredBy, err = requiredBy(ctx, r, o, f.OwnKeys, except)
	}
	return f, nodes, err
}

// requiredBy returns the members that run with a required anti-affinity by its topology key, as admission
// recorded it or as ownKeys of their template have it, without the pod with the name except.
func requiredBy(ctx context.Context, r *observe.Reader, o owner.Owner, ownKeys []string, except string) (map[string][]string, error) {
	pods, err := r.MemberPods(ctx, o)
	if err != nil {
		return nil, err
	}
	var found map[string][]string
	for _, pod := range pods {
		if pod.Name == except || pod.DeletionTimestamp != nil || pod.Spec.NodeName == "" {
			continue
		}
		record, _ := annotation.SpreadRecordOf(pod)
		for _, key := range requiredKeys(record, ownKeys) {
			if found == nil {
				found = map[string][]string{}
			}
			found[key] = append(found[key], pod.Name)
		}
	}
	return found, nil
}

// requiredKeys returns the topology keys of a member's required anti-affinity: those of a record, and those of its
// template.
func requiredKeys(record annotation.SpreadRecord, ownKeys []string) []string {
	keys := slices.Clone(ownKeys)
	for _, t := range record.Terms {
		if t.Hard && t.Kind == spread.PodAntiAffinity && !slices.Contains(keys, t.TopologyKey) {
			keys = append(keys, t.TopologyKey)
		}
	}
	return keys
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
