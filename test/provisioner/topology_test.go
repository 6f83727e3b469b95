// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package provisioner

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func node(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}}}
}

func volume(name, class, zone string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: class, NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
			NodeSelectorTerms: term(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, zone)}}}}
}

func store(t *testing.T, objects ...any) cache.Indexer {
	t.Helper()
	s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, o := range objects {
		if err := s.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestTopology(t *testing.T) {
	p := &provisioner{
		nodes: corelisters.NewNodeLister(store(t, node("node-1", "zone-a"), node("node-2", "zone-b"), node("node-3", "zone-c"))),
		volumes: corelisters.NewPersistentVolumeLister(store(t,
			volume("v1", "now", "zone-a"), volume("v2", "now", "zone-c"), volume("v3", "other", "zone-b"))),
	}
	onlyA := []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
		{Key: corev1.LabelTopologyZone, Values: []string{"zone-a"}}}}}
	for _, row := range []struct {
		name, pin, selected string
		allowed             []corev1.TopologySelectorTerm
		want                string // key and values, or a part of the error
	}{
		{"zone of the selected node", "zone", "node-2", nil, "topology.kubernetes.io/zone In zone-b"},
		{"zone is the default", "", "node-3", nil, "topology.kubernetes.io/zone In zone-c"},
		{"the selected node", "node", "node-2", nil, "kubernetes.io/hostname In node-2"},
		{"nowhere in particular", "none", "node-2", nil, "kubernetes.io/hostname Exists "},
		{"at once: the zone with the fewest", "zone", "", nil, "topology.kubernetes.io/zone In zone-b"},
		{"at once: only where the class allows", "zone", "", onlyA, "topology.kubernetes.io/zone In zone-a"},
		{"at once on a node", "node", "", nil, "WaitForFirstConsumer"},
		{"unknown pin", "rack", "node-1", nil, `pin "rack"`},
		{"node that is gone", "zone", "node-9", nil, errNodeGone.Error()},
	} {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "now"},
			Parameters: map[string]string{"pin": row.pin}, AllowedTopologies: row.allowed}
		claim := &corev1.PersistentVolumeClaim{}
		if row.selected != "" {
			claim.Annotations = map[string]string{selectedNode: row.selected}
		}
		terms, err := p.topology(claim, class)
		if err != nil {
			if !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		e := terms[0].MatchExpressions[0]
		if diff := cmp.Diff(row.want, e.Key+" "+string(e.Operator)+" "+strings.Join(e.Values, ",")); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

func TestFewest(t *testing.T) {
	if zone, err := fewest(map[string]int{"b": 1, "a": 1, "c": 2}); zone != "a" || err != nil {
		t.Error(zone, err)
	}
	if _, err := fewest(nil); err == nil || errors.Is(err, errNodeGone) {
		t.Error(err)
	}
}
