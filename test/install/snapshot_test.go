// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// moving are the kinds whose objects change all the time by themselves, or whose
// order does, or that are no objects.
var moving = []string{"Event", "APIService", "Endpoints", "EndpointSlice", "ComponentStatus"}

// counted are fields with the number and time of writes, not their content.
var counted = []string{"managedFields", "resourceVersion", "generation", "observedGeneration", "lastTransitionTime"}

// snapshot is the content of all objects of the cluster, but for what the API server
// counts: versions, generations and who wrote which field. Those in namespaces that
// skip names are left out.
func snapshot(tb testing.TB, skip ...string) map[string]string {
	tb.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		tb.Fatal(err)
	}
	asking, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		tb.Fatal(err)
	}
	served, err := asking.ServerPreferredResources()
	if err != nil {
		tb.Fatal(err)
	}
	reading, err := dynamic.NewForConfig(config)
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]string{}
	for _, group := range served {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			tb.Fatal(err)
		}
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains(moving, r.Kind) {
				continue
			}
			list, err := reading.Resource(gv.WithResource(r.Name)).List(tb.Context(), metav1.ListOptions{})
			if err != nil {
				tb.Fatal(err)
			}
			for i := range list.Items {
				if o := &list.Items[i]; !slices.Contains(skip, o.GetNamespace()) {
					all[strings.Join([]string{gv.Group, o.GetKind(), o.GetNamespace(), o.GetName()}, "/")] = content(tb, o)
				}
			}
		}
	}
	return all
}

// content is an object as text.
func content(tb testing.TB, o *unstructured.Unstructured) string {
	tb.Helper()
	switch o.GetKind() {
	case "Node":
		unstructured.RemoveNestedField(o.Object, "status") // heartbeats and images
	case "Lease":
		unstructured.RemoveNestedField(o.Object, "spec") // that is renewed; none must be left
	}
	without(o.Object)
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// without removes what is counted, wherever it stands.
func without(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			if slices.Contains(counted, key) {
				delete(value, key)
				continue
			}
			without(below)
		}
	case []any:
		for _, below := range value {
			without(below)
		}
	}
}
