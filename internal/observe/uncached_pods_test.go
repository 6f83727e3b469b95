// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUncachedPods: members whose template has a label of Deployments' pods are not in the cache, and are read from the
// API server.
func TestUncachedPods(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]int{"pod-template-hash": 3, "pod-template-generation": 3, "other": 0} {
		c := factsCase{Base: "plain-3", Owner: "StatefulSet/etcd"}
		r, o := c.reader(t)
		all := c.objects(t)
		for _, object := range all {
			if sts, is := object.(*appsv1.StatefulSet); is {
				sts.Spec.Template.Labels[label] = "x"
			}
		}
		cached := slices.DeleteFunc(slices.Clone(all), func(object client.Object) bool { _, is := object.(*corev1.Pod); return is })
		r.Reader, r.Live = cached, all
		f, err := r.Facts(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Cluster.Members) != want {
			t.Errorf("%s: %d members, want %d", label, len(f.Cluster.Members), want)
		}
	}
}
