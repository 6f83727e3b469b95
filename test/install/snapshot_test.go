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

// moving lists resources with objects or an order that change by themselves, and resources that
// are no objects.
var moving = []string{"Event", "APIService", "Endpoints", "EndpointSlice", "ComponentStatus"}

// counted lists the fields with counters or times of writes.
var counted = []string{"managedFields", "resourceVersion", "generation", "observedGeneration", "lastTransitionTime"}

// snapshot returns the content of all objects of the cluster, without the fields that the API
// server counts: versions, generations and field managers. It omits the namespaces in skip.
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

// content returns an object as text.
func content(tb testing.TB, o *unstructured.Unstructured) string {
	tb.Helper()
	switch o.GetKind() {
	case "Node":
		unstructured.RemoveNestedField(o.Object, "status") // heartbeats and images
	case "Lease":
		unstructured.RemoveNestedField(o.Object, "spec") // renewed all the time; only the existence of the Lease counts
	}
	without(o.Object)
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// without removes the counted fields at every depth.
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
