// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// TestPodIdempotent creates random pods among random nodes. The handler changes only what
// is this project's, and changes nothing when it is called again, not even when nodes have
// gone since.
func TestPodIdempotent(t *testing.T) {
	t.Parallel()
	var objects observetest.Objects
	i := 0
	generate := func(rng *rand.Rand) generated {
		if i%50 == 0 {
			objects = randomSurroundings(t, rng)
		}
		i++
		return generated{resource: podResource, raw: randomPod(t, rng), facts: objects, later: objects[3:]}
	}
	counts := patched(t, generate, func(g generated, mutated []byte, r admission.Response) {
		checkOnlyOurs(t, g.raw, mutated, r)
	})
	if counts["Patched"] < 5000 {
		t.Errorf("of 10,000 pods only %d were patched: check the generator", counts["Patched"])
	}
}

// checkOnlyOurs holds that a patch only adds, in our paths, and leaves everything else as it was.
func checkOnlyOurs(t *testing.T, raw, mutated []byte, r admission.Response) {
	t.Helper()
	for _, op := range r.Patches {
		if op.Operation != "add" || !strings.HasPrefix(op.Path, "/spec/affinity") &&
			!strings.HasPrefix(op.Path, "/spec/topologySpreadConstraints") && !strings.HasPrefix(op.Path, "/metadata/annotations") {
			t.Errorf("patch %s %s", op.Operation, op.Path)
		}
	}
	if diff := cmp.Diff(withoutOurs(t, raw), withoutOurs(t, mutated)); diff != "" {
		t.Errorf("something else changed:\n%s", diff)
	}
	var before, after corev1.Pod
	if json.Unmarshal(raw, &before) != nil || json.Unmarshal(mutated, &after) != nil {
		t.Fatal("no longer a pod")
	}
	checkConstraints(t, &after)
	found := terms.Self(&after)
	for _, own := range terms.Self(&before) {
		if !slices.ContainsFunc(found, func(term terms.Term) bool { return cmp.Equal(term, own) }) {
			t.Errorf("the pod's own term %+v is lost", own)
		}
	}
}

// checkConstraints holds that the API server accepts the constraints of a pod.
func checkConstraints(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	pairs := map[string]bool{}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		pair := c.TopologyKey + " " + string(c.WhenUnsatisfiable)
		if pairs[pair] {
			t.Errorf("two constraints %s: the API server refuses the pod", pair)
		}
		pairs[pair] = true
	}
}

// withoutOurs returns a pod without the fields that may get terms or annotations of ours.
func withoutOurs(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var pod map[string]any
	if err := json.Unmarshal(raw, &pod); err != nil {
		t.Fatal(err)
	}
	spec, _ := pod["spec"].(map[string]any)
	delete(spec, "affinity")
	delete(spec, "topologySpreadConstraints")
	meta, _ := pod["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	delete(annotations, v1alpha1.SpreadAnnotation)
	if len(annotations) == 0 {
		delete(meta, "annotations")
	}
	return pod
}

func randomSurroundings(tb testing.TB, rng *rand.Rand) observetest.Objects {
	tb.Helper()
	replicas := 1 + rng.IntN(6)
	var text strings.Builder
	for i := range 3 + rng.IntN(5) {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {kubernetes.io/hostname: n%d, topology.kubernetes.io/zone: z%d}}}\n", i, i, rng.IntN(4))
	}
	fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Namespace, metadata: {name: db}}\n")
	fmt.Fprintf(&text, "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: w}, provisioner: p, volumeBindingMode: %s}\n",
		pick(rng, "WaitForFirstConsumer", "WaitForFirstConsumer", "Immediate"))
	fmt.Fprintf(&text, "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: e, namespace: db, uid: u}, spec: {replicas: %d, serviceName: e, selector: {matchLabels: {app: e}}, "+
		"template: {metadata: {labels: {app: e}}, spec: {containers: [{name: etcd, command: [etcd]}]}}, volumeClaimTemplates: [{metadata: {name: d}, spec: {storageClassName: w}}]}}\n", replicas)
	if rng.IntN(3) == 0 {
		fmt.Fprintf(&text, "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: other, namespace: db, uid: o}, spec: {selector: {matchLabels: {app: e}}, template: {metadata: {labels: {app: e}}}}}\n")
	}
	for i := range rng.IntN(replicas + 1) {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d-e-%d, namespace: db}, spec: {volumeName: v%d}}\n", i, i)
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: v%d}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [z%d]}]}]}}}}\n", i, rng.IntN(4))
	}
	fmt.Fprintf(&text, "---\n{apiVersion: policy.kubectl-etcd.dev/v1alpha1, kind: EtcdTopologyPolicy, metadata: {name: p}, spec: {mode: %s, spread: {topology: %s, enforcement: %s, form: %s}}}\n",
		pick(rng, "Enforce", "Enforce", "Enforce", "Enforce", "Warn"), pick(rng, "Auto", "Zone", "Hostname"), pick(rng, "Required", "Preferred"), pick(rng, "TopologySpread", "AntiAffinity"))
	objects, err := observetest.Parse(scheme(tb), []byte(text.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return objects
}

func randomPod(t *testing.T, rng *rand.Rand) []byte {
	t.Helper()
	name := fmt.Sprintf("e-%d", rng.IntN(6))
	meta := map[string]any{
		"name": name, "namespace": "db", "labels": map[string]any{"app": "e", "statefulset.kubernetes.io/pod-name": name},
		"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "e", "uid": "u", "controller": true}},
		"futureField":     map[string]any{"kept": rng.IntN(9)},
	}
	switch rng.IntN(5) {
	case 0:
		meta["annotations"] = map[string]any{"team": "storage"}
	case 1:
		meta["annotations"] = nil
	case 2:
		meta["annotations"] = map[string]any{v1alpha1.SpreadAnnotation: pick(rng, "yes", `{"terms":["x"]}`,
			annotation.SpreadRecord{Policy: "p", At: []time.Time{{}, testNow.Add(-time.Hour), testNow}[rng.IntN(3)], Terms: []spread.Term{{Kind: spread.PodAntiAffinity, TopologyKey: spread.HostnameKey, Hard: true}}}.String())}
	}
	spec := map[string]any{"containers": []any{map[string]any{"name": "etcd", "futureField": 1}}, "futureField": "kept"}
	if a, set := randomAffinity(rng); set {
		spec["affinity"] = a
	}
	if c, set := randomConstraints(rng); set {
		spec["topologySpreadConstraints"] = c
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func randomAffinity(rng *rand.Rand) (any, bool) {
	switch rng.IntN(4) {
	case 0:
		return nil, rng.IntN(2) == 0
	case 1:
		return map[string]any{"nodeAffinity": map[string]any{}}, true
	case 2:
		return map[string]any{"podAntiAffinity": nil, "podAffinity": map[string]any{}}, true
	}
	anti := map[string]any{}
	if rng.IntN(2) == 0 {
		required := []any{}
		for range rng.IntN(3) {
			required = append(required, randomTerm(rng))
		}
		anti["requiredDuringSchedulingIgnoredDuringExecution"] = required
	}
	if rng.IntN(2) == 0 {
		anti["preferredDuringSchedulingIgnoredDuringExecution"] = []any{map[string]any{"weight": 1 + rng.IntN(100), "podAffinityTerm": randomTerm(rng)}}
	}
	return map[string]any{"podAntiAffinity": anti, "futureField": true}, true
}

func randomTerm(rng *rand.Rand) map[string]any {
	term := map[string]any{
		"topologyKey":   pick(rng, spread.HostnameKey, spread.ZoneKey, "example.com/rack"),
		"labelSelector": randomSelector(rng),
	}
	if rng.IntN(4) == 0 {
		term["namespaces"] = []any{pick(rng, "db", "elsewhere")}
	}
	return term
}

func randomSelector(rng *rand.Rand) *metav1.LabelSelector {
	switch rng.IntN(4) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "e"}}
}

func randomConstraints(rng *rand.Rand) (any, bool) {
	if rng.IntN(2) == 0 {
		return nil, rng.IntN(2) == 0
	}
	out := []any{}
	seen := map[string]bool{}
	for range rng.IntN(4) {
		key, when := pick(rng, spread.HostnameKey, spread.ZoneKey), pick(rng, "DoNotSchedule", "ScheduleAnyway")
		if seen[key+when] {
			continue
		}
		seen[key+when] = true
		out = append(out, map[string]any{"topologyKey": key, "whenUnsatisfiable": when, "maxSkew": 1 + rng.IntN(3), "labelSelector": randomSelector(rng)})
	}
	return out, true
}

func pick(rng *rand.Rand, from ...string) string { return from[rng.IntN(len(from))] }
