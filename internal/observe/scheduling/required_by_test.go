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

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// TestRequiredBy holds that the facts of a cluster with more members than nodes name the members that run
// with a required anti-affinity, also for a size that is asked for.
func TestRequiredBy(t *testing.T) {
	t.Parallel()
	main := labelledSet("main", 0)
	main.UID = "main-uid"
	objects := observetest.Objects{main}
	for _, name := range []string{"a", "b", "c"} {
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{spread.ZoneKey: name}}})
	}
	host := spread.Term{Kind: spread.PodAntiAffinity, TopologyKey: spread.HostnameKey, Hard: true}
	for name, terms := range map[string][]spread.Term{
		"main-0": {host, {Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true}},
		"main-1": {{Kind: spread.PodAntiAffinity, TopologyKey: spread.HostnameKey}},
		"main-2": {host}, // waits
		"main-3": {host, {Kind: spread.PodAntiAffinity, TopologyKey: spread.ZoneKey, Hard: true}},
		"main-4": {host}, // is being created
	} {
		pod := labelled(name)
		pod.UID = types.UID(name)
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(main, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
		pod.Annotations = map[string]string{v1alpha1.SpreadAnnotation: annotation.SpreadRecord{Policy: "p", Terms: terms}.String()}
		if name != "main-2" {
			pod.Spec.NodeName = "a"
		}
		objects = append(objects, pod)
	}
	o, r := owner.OfStatefulSet(main), &observe.Reader{Reader: objects}
	want := map[string][]string{spread.HostnameKey: {"main-0", "main-3"}, spread.ZoneKey: {"main-3"}}
	few, err := FactsOfCluster(t.Context(), r, o, labelled("main-0"), spread.ZoneKey)
	if err != nil || few.RequiredBy != nil {
		t.Errorf("three members on three nodes: %v, %v", few.RequiredBy, err)
	}
	many, err := Facts(t.Context(), r, o, labelled("main-4"), spread.ZoneKey)
	if diff := cmp.Diff(want, many.RequiredBy); err != nil || diff != "" {
		t.Errorf("five members: %v (-want +got):\n%s", err, diff)
	}
	// The pod of a preview is the template's, with the name of the first member, which counts.
	want[spread.HostnameKey] = append(want[spread.HostnameKey], "main-4")
	asked, err := FactsOfSize(t.Context(), r, o, labelled("main-0"), spread.ZoneKey, 5)
	if diff := cmp.Diff(want, asked.RequiredBy); err != nil || diff != "" || asked.Size != 5 {
		t.Errorf("five members are asked for: %d, %v (-want +got):\n%s", asked.Size, err, diff)
	}
	// A node without a zone is no zone.
	r.Reader = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "d"}})
	four, err := FactsOfSize(t.Context(), r, o, labelled("main-0"), spread.ZoneKey, 4)
	if diff := cmp.Diff(want, four.RequiredBy); err != nil || diff != "" {
		t.Errorf("four members in three zones: %v (-want +got):\n%s", err, diff)
	}
}
