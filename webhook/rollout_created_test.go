// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"path/filepath"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// TestCreatedOverPods creates a StatefulSet again over its pods, beside none, some or all of the other
// StatefulSets of its cluster. It is held unless its member is known to be the only one.
func TestCreatedOverPods(t *testing.T) {
	t.Parallel()
	secret := func(live *liveObjects) { withSecret(live, "a") }
	declared := func(key, text string) func(*liveObjects) {
		return func(live *liveObjects) {
			change(live, "a", func(s *appsv1.StatefulSet) { s.Annotations = map[string]string{key: text} })
		}
	}
	size := func(text string) func(*liveObjects) { return declared(v1alpha1.SizeAnnotation, text) }
	noList := func(live *liveObjects) {
		change(live, "a", func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Containers[0].Env = s.Spec.Template.Spec.Containers[0].Env[:1]
		})
	}
	recorded := func(live *liveObjects) {
		change(live, "all", func(b *policyv1.PodDisruptionBudget) {
			b.Annotations = annotation.BudgetRecord{For: "StatefulSet/a", Value: &annotation.BudgetValue{Field: annotation.MinAvailable, N: 2}, Size: annotation.LargestSize{N: 3}}.Encode()
		})
	}
	three := []string{"a/1", "b/1", "c/1"}
	for _, test := range []struct {
		name    string
		sets    []string
		changes []func(*liveObjects)
		gone    []string // beside a
		held    bool
	}{
		{name: "one member", sets: []string{"a/1"}},
		{name: "two members", sets: []string{"a/2"}, held: true},
		{name: "all are gone", sets: three, gone: []string{"b", "c"}, held: true},
		{name: "one is back", sets: three, gone: []string{"c"}, held: true},
		{name: "the others are there", sets: three, held: true},
		{name: "one of two in one of them", sets: []string{"a/1", "b/2"}, gone: []string{"b"}, held: true},
		{name: "the only voter", sets: three, changes: []func(*liveObjects){size("1")}, gone: []string{"b", "c"}},
		{name: "three voters, none of the others listed", sets: []string{"a/1"}, changes: []func(*liveObjects){size("3")}, held: true},
		{name: "no policy applies", sets: three, changes: []func(*liveObjects){declared(v1alpha1.TopologyPolicyAnnotation, v1alpha1.OptOut)}},
		{name: "a list in a Secret", sets: []string{"a/1"}, changes: []func(*liveObjects){secret, noList}, held: true},
		{name: "no list, and the budget records three", sets: []string{"a/1"}, changes: []func(*liveObjects){noList, recorded}, held: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			live := spanningCluster(t, test.sets...)
			for _, f := range test.changes {
				f(live)
			}
			request := createdOverPods(t, live, test.gone)
			got := replica(t, live, live).handle(t, request)
			if held := len(got.Patches) > 0; held != test.held || held && reasonOf(got) != "RolloutNotObserved" {
				t.Errorf("held %t, %s, want %t: %q", held, reasonOf(got), test.held, got.Warnings)
			}
		})
	}
}

// createdOverPods removes the StatefulSet a and others, but not their pods, and returns the request that creates
// a again.
func createdOverPods(t *testing.T, live *liveObjects, gone []string) admissionv1.AdmissionRequest {
	t.Helper()
	var raw []byte
	live.objects = slices.DeleteFunc(live.objects, func(o client.Object) bool {
		sts, is := o.(*appsv1.StatefulSet)
		if is && sts.Name == "a" {
			sts.UID, raw = "", mustMarshal(sts)
		}
		_, policy := o.(*v1alpha1.EtcdTopologyPolicy)
		return policy || is && (sts.Name == "a" || slices.Contains(gone, sts.Name))
	})
	for _, o := range live.objects {
		if pod, is := o.(*corev1.Pod); is && (pod.Labels["app"] == "a" || slices.Contains(gone, pod.Labels["app"])) {
			pod.OwnerReferences = nil
		}
	}
	live.objects = append(live.objects, readObjects(t, filepath.Join("testdata", "policy-rollouts.facts.yaml"))...)
	r := scaleOf("a", 0, 1)
	r.UID, r.Operation, r.SubResource = "rollout", admissionv1.Create, ""
	r.Object, r.OldObject = runtime.RawExtension{Raw: raw}, runtime.RawExtension{}
	return r
}
