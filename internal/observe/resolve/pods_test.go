// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestResolveSingles: a Deployment of one single etcd is a target also in a rolling update, and the pods of a
// Deployment of several are targets each.
func TestResolveSingles(t *testing.T) {
	t.Parallel()
	etcd := func(deployment, hash, pod string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: deployment + "-" + hash + "-" + pod, Labels: map[string]string{"pod-template-hash": hash, "app": deployment},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: deployment + "-" + hash, Controller: new(true)}},
		}}
		p.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd", "--name=" + deployment}}}
		return p
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "mesh"}}
	service.Spec.Selector = map[string]string{"app": "mesh"}
	r := &observe.Reader{Reader: observetest.Objects{
		etcd("dev", "5f9c", "a"), etcd("dev", "7d", "b"), etcd("mesh", "5f9c", "a"), etcd("mesh", "5f9c", "b"), service,
	}}
	for _, row := range []struct{ target, want string }{
		{"deployment/dev", "Deployment team/dev"},
		{"dev", "Deployment team/dev"},
		{"pod/dev-7d-b", "Deployment team/dev"},
		{"deployment/mesh", "ambiguous: mesh-5f9c-a, mesh-5f9c-b"},
		{"mesh", "ambiguous: mesh-5f9c-a, mesh-5f9c-b"},
		{"mesh-5f9c-a", "Pods team/mesh-5f9c-a"},
		{"", "ambiguous: deployment/dev, mesh-5f9c-a, mesh-5f9c-b"},
	} {
		target, err := owner.ParseTarget(row.target)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Target(t.Context(), r, "team", target)
		if got := resolved(t, found, err); got != row.want {
			t.Errorf("%s: %s, want %s", row.target, got, row.want)
		}
	}
}

// TestTargetsOfPodsResolve holds that the target of a cluster of pods names the cluster, whatever controls the pods:
// a printed command contains it.
func TestTargetsOfPodsResolve(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ version, kind, want string }{
		{"apps/v1", "ReplicaSet", "replicaset/x"},
		{"apps/v1", "DaemonSet", "daemonset/x"},
		{"v1", "ReplicationController", "x"},
		{"etcd.example/v1", "EtcdCluster", "etcdcluster/x"},
		{"apps.kruise.io/v1beta1", "StatefulSet", "x"},
		{"apps.kruise.io/v1alpha1", "DaemonSet", "x"},
		{"apps.kruise.io/v1alpha1", "CloneSet", "x"},
		{"example.com/v1", "Deployment", "x"},
		{"example.com/v1", "ReplicaSet", "x"},
		{"example.com/v1", "Service", "x"},
		{"example.com/v1", "Pod", "x"},
		{"example.com/v1", "Etcd", "x"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: "x-0", OwnerReferences: []metav1.OwnerReference{{APIVersion: row.version, Kind: row.kind, Name: "x", Controller: new(true)}},
		}}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd"}}}
		r := &observe.Reader{Reader: observetest.Objects{pod}}
		owners, err := r.Clusters(t.Context())
		if err != nil || len(owners) != 1 {
			t.Fatalf("%s %s: %v, %v", row.version, row.kind, owners, err)
		}
		if got := owners[0].Target().String(); got != row.want {
			t.Errorf("%s %s: target %s, want %s", row.version, row.kind, got, row.want)
		}
		target, err := owner.ParseTarget(owners[0].Target().String())
		if err != nil {
			t.Fatal(err)
		}
		found, err := Target(t.Context(), r, "team", target)
		if got := resolved(t, found, err); got != owners[0].String() {
			t.Errorf("%s %s: %s, want %s", row.version, row.kind, got, owners[0])
		}
	}
}
