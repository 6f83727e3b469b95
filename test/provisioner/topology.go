// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package provisioner

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// errNodeGone is returned when the node that the scheduler chose isn't there.
var errNodeGone = errors.New("the selected node is gone")

// topology returns where a claim's volume can be used: on the node or in the zone
// that the scheduler chose, by the class's parameter pin. For a class that binds
// at once there is no choice yet, and the zone with the fewest of its volumes is
// taken.
func (p *provisioner) topology(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) ([]corev1.NodeSelectorTerm, error) {
	var node *corev1.Node
	if name := claim.Annotations[selectedNode]; name != "" {
		found, err := p.nodes.Get(name)
		if apierrors.IsNotFound(err) {
			return nil, errNodeGone
		}
		if err != nil {
			return nil, err
		}
		node = found
	}
	switch pin := class.Parameters["pin"]; pin {
	case "none":
		return term(corev1.LabelHostname, corev1.NodeSelectorOpExists), nil
	case "node":
		if node == nil {
			return nil, fmt.Errorf("class %s pins volumes to nodes, so it must have volumeBindingMode WaitForFirstConsumer", class.Name)
		}
		return term(corev1.LabelHostname, corev1.NodeSelectorOpIn, node.Labels[corev1.LabelHostname]), nil
	case "", "zone":
		if node != nil {
			return term(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, node.Labels[corev1.LabelTopologyZone]), nil
		}
		zone, err := p.nextZone(class)
		return term(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, zone), err
	default:
		return nil, fmt.Errorf("class %s has pin %q: it can be zone, node or none", class.Name, pin)
	}
}

func term(key string, operator corev1.NodeSelectorOperator, values ...string) []corev1.NodeSelectorTerm {
	return []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}}
}

// nextZone returns the zone with the fewest volumes of the class, the first by
// name of several; only the class's allowedTopologies when it names any.
func (p *provisioner) nextZone(class *storagev1.StorageClass) (string, error) {
	nodes, err := p.nodes.List(labels.Everything())
	if err != nil {
		return "", err
	}
	count := map[string]int{}
	for _, n := range nodes {
		if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" && allows(class, zone) {
			count[zone] = 0
		}
	}
	volumes, err := p.volumes.List(labels.Everything())
	if err != nil {
		return "", err
	}
	for _, v := range volumes {
		if zone := zoneOf(v); v.Spec.StorageClassName == class.Name {
			if _, ok := count[zone]; ok {
				count[zone]++
			}
		}
	}
	return fewest(count)
}

func fewest(count map[string]int) (string, error) {
	var zones []string
	for zone := range count {
		zones = append(zones, zone)
	}
	if len(zones) == 0 {
		return "", errors.New("no node has a zone that the class allows")
	}
	slices.Sort(zones)
	return slices.MinFunc(zones, func(a, b string) int { return count[a] - count[b] }), nil
}

func allows(class *storagev1.StorageClass, zone string) bool {
	for _, t := range class.AllowedTopologies {
		for _, r := range t.MatchLabelExpressions {
			if r.Key == corev1.LabelTopologyZone {
				return slices.Contains(r.Values, zone)
			}
		}
	}
	return true
}

// zoneOf returns the zone that a volume of ours is pinned to.
func zoneOf(v *corev1.PersistentVolume) string {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return ""
	}
	for _, t := range v.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range t.MatchExpressions {
			if e.Key == corev1.LabelTopologyZone && len(e.Values) > 0 {
				return e.Values[0]
			}
		}
	}
	return ""
}
