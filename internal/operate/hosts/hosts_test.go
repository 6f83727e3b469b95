// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// node returns a node of a zone, and changes it.
func node(name, zone string, changes ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	if zone != "" {
		n.Labels[corev1.LabelTopologyZone] = zone
	}
	for _, change := range changes {
		change(&n)
	}
	return n
}

func cordoned(n *corev1.Node) {
	n.Spec.Unschedulable = true
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
}

func notReady(n *corev1.Node) {
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
}

func tainted(effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: "db", Effect: effect})
	}
}

// volumeIn returns a volume that the nodes with a label can mount, all nodes without a key.
func volumeIn(key, value string) []*corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-1"}}
	if key != "" {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}}}
	}
	return []*corev1.PersistentVolume{v}
}

// TestStarting has a row for each state of the node of a member, and each kind of volume.
func TestStarting(t *testing.T) {
	t.Parallel()
	local, zonal, anywhere := volumeIn(corev1.LabelHostname, "node-1"), volumeIn(corev1.LabelTopologyZone, "a"), volumeIn("", "")
	tolerates := func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} }
	selects := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "fast"} }
	for _, row := range []struct {
		name    string
		first   corev1.Node
		volumes []*corev1.PersistentVolume
		pod     func(*corev1.Pod)
		// starting are the nodes, and why is a part of the reason if there is none.
		starting, why string
		opens         bool
	}{
		{name: "ready, local", first: node("node-1", "a"), volumes: local, starting: "node-1"},
		{name: "ready, no volume", first: node("node-1", "a"), starting: "node-1 node-2"},
		{name: "cordoned, local", first: node("node-1", "a", cordoned), volumes: local, why: "with its volume: node node-1 is cordoned (kubectl uncordon node-1)", opens: true},
		{name: "cordoned, zonal", first: node("node-1", "a", cordoned), volumes: zonal, why: "node node-1 is cordoned", opens: true},
		{name: "cordoned, anywhere", first: node("node-1", "a", cordoned), volumes: anywhere, starting: "node-2"},
		{name: "cordoned, tolerated", first: node("node-1", "a", cordoned), volumes: local, pod: tolerates, starting: "node-1"},
		{name: "not Ready, local", first: node("node-1", "a", notReady), volumes: local, why: "node node-1 is not Ready"},
		{name: "not Ready, tolerated", first: node("node-1", "a", notReady), volumes: local, pod: tolerates, why: "node node-1 is not Ready"},
		{name: "tainted, local", first: node("node-1", "a", tainted(corev1.TaintEffectNoSchedule)), volumes: local, why: "node node-1 has taint dedicated=db:NoSchedule, which its pod does not tolerate", opens: true},
		{name: "tainted, NoExecute", first: node("node-1", "a", tainted(corev1.TaintEffectNoExecute)), volumes: local, why: "dedicated=db:NoExecute", opens: true},
		{name: "tainted, preferred", first: node("node-1", "a", tainted(corev1.TaintEffectPreferNoSchedule)), volumes: local, starting: "node-1"},
		{name: "tainted, tolerated", first: node("node-1", "a", tainted(corev1.TaintEffectNoSchedule)), volumes: local, pod: tolerates, starting: "node-1"},
		{name: "other labels", first: node("node-1", "a"), volumes: local, pod: selects, why: "node node-1 does not match the node selector or affinity of its pod"},
		{name: "gone, local", first: node("node-9", "b"), volumes: local, why: "no node can mount its volume, PersistentVolume pv-1"},
		{name: "gone, zonal", first: node("node-9", "b"), volumes: zonal, why: "no node can mount its volume"},
	} {
		pod := &corev1.Pod{}
		if row.pod != nil {
			row.pod(pod)
		}
		nodes := Nodes{row.first, node("node-2", "b")}
		var names []string
		for _, n := range nodes.Starting(pod, row.volumes) {
			names = append(names, n.Name)
		}
		if got := strings.Join(names, " "); got != row.starting {
			t.Errorf("%s: %q start it, want %q", row.name, got, row.starting)
		}
		if row.starting != "" {
			continue
		}
		if why, opens := nodes.NoStart(pod, row.volumes); !strings.Contains(why, row.why) || opens != row.opens {
			t.Errorf("%s: %q, opens %t, want %q", row.name, why, opens, row.why)
		}
	}
}

// TestTogether: each member has a letter, its nodes follow.
func TestTogether(t *testing.T) {
	t.Parallel()
	all := []corev1.Node{node("1", "a"), node("2", "a"), node("3", "b"), node("4", "")}
	for _, row := range []struct {
		name, key, nodes string
		soft             bool
		want             int
	}{
		{name: "a node each", key: corev1.LabelHostname, nodes: "1 2 3", want: 3},
		{name: "one node for all", key: corev1.LabelHostname, nodes: "1 1 1", want: 1},
		{name: "preferred", key: corev1.LabelHostname, nodes: "1 1 1", soft: true, want: 3},
		{name: "no term", nodes: "1 1 1", want: 3},
		{name: "the first takes what only the second can have", key: corev1.LabelHostname, nodes: "12 1 3", want: 3},
		{name: "a chain", key: corev1.LabelHostname, nodes: "12 23 1", want: 3},
		{name: "two zones", key: corev1.LabelTopologyZone, nodes: "123 123 123", want: 2},
		{name: "one zone", key: corev1.LabelTopologyZone, nodes: "12 12", want: 1},
		{name: "a node without a zone", key: corev1.LabelTopologyZone, nodes: "124 124 124", want: 3},
		{name: "no node", key: corev1.LabelHostname, nodes: "1 - 3", want: 1},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "main"}}}
		term := corev1.PodAffinityTerm{TopologyKey: row.key, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}}
		apart := &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
		if row.soft {
			apart = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: term}}}
		}
		if row.key != "" {
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: apart}
		}
		var each [][]*corev1.Node
		for names := range strings.FieldsSeq(row.nodes) {
			var own []*corev1.Node
			for i := range all {
				if strings.Contains(names, all[i].Name) {
					own = append(own, &all[i])
				}
			}
			each = append(each, own)
		}
		n, key := Together(pod, each)
		if n != row.want || (key != "") != (n < len(each)) {
			t.Errorf("%s: %d by key %q, want %d", row.name, n, key, row.want)
		}
	}
}

// TestAdmitted: tolerations that admission gave to a pod that runs count for the next one.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	n := node("node-1", "a", tainted(corev1.TaintEffectNoSchedule))
	present := &corev1.Pod{}
	present.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	next := &corev1.Pod{}
	if Starts(&n, next, nil) || !Starts(&n, Admitted(next, []*corev1.Pod{present}), nil) || len(next.Spec.Tolerations) > 0 {
		t.Error("the tolerations of the present pod are not those of the next one")
	}
}
