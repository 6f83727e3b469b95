// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// TestRolloutWrites generates writes of a StatefulSet before and while its rollout is held. A write
// that changes the template holds all pods, one of a rollout that is held releases none, and nothing
// but the strategy and our annotations changes.
func TestRolloutWrites(t *testing.T) {
	t.Parallel()
	objects, _ := readRequest(t, "testdata/rollout-template.request.yaml")
	counts := patched(t, func(rng *rand.Rand) generated {
		g := generatedRollout(rng, rng.IntN(2) == 0)
		g.facts, g.later = objects, objects
		return g
	}, func(g generated, mutated []byte, _ admission.Response) { checkRollout(t, g, mutated) })
	if counts["Patched"] < 1000 {
		t.Errorf("only %d writes were held: %v", counts["Patched"], counts)
	}
}

// TestUnguardedRolloutWrites generates the same writes while a rollout is held that no policy holds any
// more. None of them releases a pod: the controller does so, after the settle time.
func TestUnguardedRolloutWrites(t *testing.T) {
	t.Parallel()
	var facts []observetest.Objects
	for _, name := range []string{"no-policy", "guard-off", "guard-warn"} {
		objects, _ := readRequest(t, "testdata/rollout-held-reset-"+name+".request.yaml")
		facts = append(facts, objects)
	}
	counts := patched(t, func(rng *rand.Rand) generated {
		g := generatedRollout(rng, true)
		g.facts = facts[rng.IntN(len(facts))]
		g.later = facts[rng.IntN(len(facts))]
		return g
	}, func(g generated, mutated []byte, _ admission.Response) { checkRollout(t, g, mutated) })
	if counts["Patched"] < 1000 {
		t.Errorf("only %d writes were held: %v", counts["Patched"], counts)
	}
}

// generatedRollout returns a write of a StatefulSet. held is whether its rollout is held.
func generatedRollout(rng *rand.Rand, held bool) generated {
	old := rolloutObject(rng, 1+rng.IntN(2))
	old.Status.CurrentRevision, old.Status.UpdateRevision = "a", []string{"a", "b"}[rng.IntN(2)]
	if held {
		holdObject(old, rng.IntN(4))
	}
	after := old.DeepCopy()
	switch rng.IntN(4) {
	case 0:
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, "a", "b")
	case 1: // as etcd-druid writes
		after = rolloutObject(rng, 1)
		after.Spec.Template = old.Spec.Template
	case 2:
		after = rolloutObject(rng, 3)
	case 3:
		after.Spec.UpdateStrategy = rolloutObject(rng, 1).Spec.UpdateStrategy
	}
	return generated{
		uid: entries.Rollout, resource: metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"},
		old: mustMarshal(old), raw: mustMarshal(after),
	}
}

func mustMarshal(o any) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // it is made of plain fields
	}
	return text
}

func rolloutObject(rng *rand.Rand, images int) *appsv1.StatefulSet {
	var sts appsv1.StatefulSet
	text := []byte(`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"plain","namespace":"db","uid":"plain-uid"},"spec":{"replicas":3,"serviceName":"plain",
"selector":{"matchLabels":{"app":"plain"}},"template":{"metadata":{"labels":{"app":"plain"}},"spec":{"containers":[{"name":"etcd","command":["/usr/local/bin/etcd"]}]}}}}`)
	if err := json.Unmarshal(text, &sts); err != nil {
		panic(err) // it is a constant
	}
	sts.Spec.Template.Spec.Containers[0].Image = []string{"etcd:1", "etcd:2", "etcd:3"}[rng.IntN(images)]
	sts.Spec.UpdateStrategy = annotation.WithRolloutValue(rolling, rollout.Value{OnDelete: rng.IntN(8) == 0, Partition: max(0, rng.IntN(6)-2)})
	return &sts
}

var rolling = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}

func holdObject(sts *appsv1.StatefulSet, partition int) {
	value := rollout.Value{OnDelete: partition == 0, Partition: partition}
	text, err := annotation.RolloutRecord{Author: annotation.WithRolloutValue(rolling, rollout.Value{}), Value: value, Since: testNow.Add(-1), Reason: "AllReady"}.Encode()
	if err != nil {
		panic(err) // it is made of plain fields
	}
	sts.Annotations, sts.Spec.UpdateStrategy = text, annotation.WithRolloutValue(rolling, value)
}

// checkRollout compares a write with what became of it.
func checkRollout(t *testing.T, g generated, mutated []byte) {
	t.Helper()
	var before, wrote, after appsv1.StatefulSet
	for raw, into := range map[*[]byte]*appsv1.StatefulSet{&g.old: &before, &g.raw: &wrote, &mutated: &after} {
		if err := json.Unmarshal(*raw, into); err != nil {
			t.Fatal(err)
		}
	}
	was, is := annotation.RolloutValueOf(&before.Spec.UpdateStrategy), annotation.RolloutValueOf(&after.Spec.UpdateStrategy)
	asked := annotation.RolloutValueOf(&wrote.Spec.UpdateStrategy)
	template := before.Spec.Template.Spec.Containers[0].Image != wrote.Spec.Template.Spec.Containers[0].Image
	held := before.Annotations[v1alpha1.RolloutValueAnnotation] != ""
	switch {
	case asked.OnDelete && asked != was, is.OnDelete:
	case template && is.Partition < 3:
		t.Errorf("a new template, and the partition is %d", is.Partition)
	case held && !was.OnDelete && is.Partition < was.Partition:
		t.Errorf("the partition falls from %d to %d", was.Partition, is.Partition)
	}
	after.Spec.UpdateStrategy = wrote.Spec.UpdateStrategy
	for _, key := range annotation.RolloutAnnotations() {
		delete(after.Annotations, key)
		delete(wrote.Annotations, key)
	}
	if len(after.Annotations) == 0 {
		after.Annotations = nil
	}
	if len(wrote.Annotations) == 0 {
		wrote.Annotations = nil
	}
	if a, b := string(mustMarshal(after)), string(mustMarshal(wrote)); a != b {
		t.Errorf("more than the strategy changed:\n%s\n%s", a, b)
	}
}
