// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// withoutPodLists is an API server that must not be asked for all pods of a namespace.
type withoutPodLists struct {
	observetest.Objects
	t *testing.T
}

func (w withoutPodLists) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, pods := list.(*corev1.PodList); pods {
		w.t.Error("the pods of the namespace are listed from the API server")
	}
	return w.Objects.List(ctx, list, opts...)
}

// TestUncachedPods: members whose template has a label of Deployments' pods are not in the cache, and are read from the
// API server one by one, as is a cluster that must be read from there.
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
		r.Reader, r.Live = cached, withoutPodLists{Objects: all, t: t}
		f, err := r.Facts(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Cluster.Members) != want {
			t.Errorf("%s: %d members, want %d", label, len(f.Cluster.Members), want)
		}
		if pods, err := r.ByName().MemberPods(t.Context(), o); err != nil || len(pods) != 3 {
			t.Errorf("%s: %d pods by name, %v", label, len(pods), err)
		}
	}
}
