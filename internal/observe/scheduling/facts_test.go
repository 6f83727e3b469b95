// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

func load(t *testing.T, file string) observetest.Objects {
	t.Helper()
	return observetest.ReadFile(t, observe.AddToScheme, file)
}

// late is a cache that does not have some objects yet.
func late(all observetest.Objects, names ...string) (out observetest.Objects) {
next:
	for _, o := range all {
		for _, n := range names {
			if o.GetName() == n {
				continue next
			}
		}
		out = append(out, o)
	}
	return out
}

func member(sts, name string, labels map[string]string) *corev1.Pod {
	isController := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "db", Name: name, Labels: labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: sts, Controller: &isController}},
	}}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	objects := load(t, "testdata/spread.yaml")
	read := func(kind spread.VolumeState, nodes ...string) spread.Volume {
		return spread.Volume{State: kind, Nodes: nodes}
	}
	all := []spread.Node{{Name: "a1", Zone: "a"}, {Name: "a2", Zone: "a"}, {Name: "b1", Zone: "b"}, {Name: "c1", Zone: "c"}, {Name: "x2"}}
	plain := []spread.Volume{read(spread.Bound, "a1", "a2"), read(spread.Bound, "c1"), read(spread.UnboundImmediate), read(spread.UnboundWaiting)}
	plainLabels := map[string]string{"app": "plain"}
	for _, row := range []struct {
		name   string
		reader observe.Reader
		sts    string
		pod    string
		labels map[string]string
		change func(*corev1.Pod)
		want   spread.Facts
	}{
		{
			name: "cordoned and not ready nodes count, tainted ones don't; the default class waits", reader: observe.Reader{Reader: objects},
			sts: "plain", pod: "plain-3", labels: plainLabels,
			want: spread.Facts{Size: 4, Ordered: true, Ordinal: 3, Nodes: all, Volumes: plain},
		},
		{
			name: "what the cache lacks is read live", reader: observe.Reader{Reader: late(objects, "data-plain-0", "pv-1", "plain"), Live: objects},
			sts: "plain", pod: "plain-0", labels: plainLabels,
			want: spread.Facts{Size: 4, Ordered: true, Ordinal: 0, Nodes: all, Volumes: plain},
		},
		{
			name: "the node of a lost volume is unknown", reader: observe.Reader{Reader: late(objects, "pv-1")},
			sts: "plain", pod: "plain-0", labels: plainLabels,
			want: spread.Facts{Size: 4, Ordered: true, Ordinal: 0, Nodes: all, Volumes: []spread.Volume{plain[0], read(spread.UnboundImmediate), plain[2], plain[3]}},
		},
		{
			name: "node selector and tolerations", reader: observe.Reader{Reader: objects},
			sts: "plain", pod: "plain-1", labels: plainLabels,
			change: func(p *corev1.Pod) {
				p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{
						{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}}},
						{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"x1"}}}},
					},
				}}}
				p.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
			},
			want: spread.Facts{
				Size: 4, Ordered: true, Ordinal: 1, Nodes: []spread.Node{all[1], all[2], all[3], {Name: "x1"}},
				Volumes: []spread.Volume{read(spread.Bound, "a2"), plain[1], plain[2], plain[3]},
			},
		},
		{
			name: "no node matches: the zones of the cluster", reader: observe.Reader{Reader: objects},
			sts: "plain", pod: "plain-3", labels: plainLabels,
			change: func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "empty"} },
			want: spread.Facts{
				Size: 4, Ordered: true, Ordinal: 3, ClusterZones: 3, Nodes: []spread.Node{},
				Volumes: []spread.Volume{read(spread.Bound), read(spread.Bound), plain[2], plain[3]},
			},
		},
		{
			name: "an Etcd that is being scaled, whose members start together; its class is gone", reader: observe.Reader{Reader: objects},
			sts: "main", pod: "main-2", labels: map[string]string{"app.kubernetes.io/part-of": "main", "app.kubernetes.io/component": "etcd-statefulset"},
			want: spread.Facts{Size: 5, Ordinal: 2, Nodes: all, Volumes: []spread.Volume{
				read(spread.UnboundImmediate), read(spread.UnboundImmediate), read(spread.UnboundImmediate), read(spread.UnboundImmediate), read(spread.UnboundImmediate),
			}},
		},
		{
			name: "a claim that all members share ties all of them", reader: observe.Reader{Reader: objects},
			sts: "plain", pod: "plain-5", labels: plainLabels,
			change: func(p *corev1.Pod) {
				p.Spec.Volumes = []corev1.Volume{
					{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-plain-0"}}},
					{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-plain-5"}}},
				}
			},
			want: spread.Facts{Size: 6, Ordered: true, Ordinal: 5, Nodes: all, Volumes: []spread.Volume{
				plain[0], read(spread.Bound), plain[2], plain[0], plain[0], plain[0],
			}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pod := member(row.sts, row.pod, row.labels)
			var sts appsv1.StatefulSet
			if err := objects.Get(t.Context(), types.NamespacedName{Namespace: "db", Name: row.sts}, &sts); err != nil {
				t.Fatal(err)
			}
			pod.OwnerReferences[0].UID = sts.UID
			if row.change != nil {
				row.change(pod)
			}
			owner, ok, err := row.reader.OwnerOfPod(t.Context(), pod)
			if err != nil || !ok {
				t.Fatalf("OwnerOfPod: %t, %v", ok, err)
			}
			got, err := Facts(t.Context(), &row.reader, owner, pod, spread.ZoneKey)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTemporaryTaints holds that a node that is away for a while counts, and one for others doesn't.
func TestTemporaryTaints(t *testing.T) {
	t.Parallel()
	for key, lasting := range map[string]bool{
		corev1.TaintNodeUnschedulable: false, corev1.TaintNodeNotReady: false, corev1.TaintNodeUnreachable: false,
		"node.cloudprovider.kubernetes.io/shutdown": false, "dedicated": true,
	} {
		if got := isLastingTaint(&corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}); got != lasting {
			t.Errorf("%s is lasting: %t", key, got)
		}
	}
}
