// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOfLabelledPod holds that the label of an operator's clusters alone does not make a pod the operator's: anyone may write
// it, and the operator would be asked to scale what it doesn't know.
func TestOfLabelledPod(t *testing.T) {
	t.Parallel()
	const of, ofMember, cozy = "etcd.improbable.io/cluster-name", "etcd.improbable.io/peer-name", "etcd-operator.cozystack.io/cluster"
	by := func(apiVersion, kind, name string) *metav1.OwnerReference {
		return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, Controller: new(true)}
	}
	uncontrolled := by("etcd-operator.cozystack.io/v1alpha2", "EtcdMember", "x-7k2p")
	uncontrolled.Controller = nil
	for _, row := range []struct {
		id     string
		labels map[string]string
		ref    *metav1.OwnerReference
		want   Name
	}{
		{"LP-1 cozystack's", map[string]string{cozy: "x"}, by("etcd-operator.cozystack.io/v1alpha2", "EtcdMember", "x-7k2p"), Cozystack},
		{"LP-2 cozystack's, of a later version", map[string]string{cozy: "x"}, by("etcd-operator.cozystack.io/v1", "EtcdMember", "x-7k2p"), Cozystack},
		{"LP-3 cozystack's label on a Deployment's", map[string]string{cozy: "x", "pod-template-hash": "5f9c"}, by("apps/v1", "ReplicaSet", "db-5f9c"), ""},
		{"LP-4 cozystack's label on a ReplicaSet's", map[string]string{cozy: "x"}, by("apps/v1", "ReplicaSet", "x"), ""},
		{"LP-5 cozystack's label on a pod by hand", map[string]string{cozy: "x"}, nil, ""},
		{"LP-6 cozystack's label on another operator's", map[string]string{cozy: "x"}, by("etcd.aenix.io/v1alpha1", "EtcdCluster", "x"), ""},
		{"LP-7 an owner that doesn't control it", map[string]string{cozy: "x"}, uncontrolled, ""},
		{"LP-8 Improbable's", map[string]string{of: "x", ofMember: "x-0"}, by("apps/v1", "ReplicaSet", "x-0"), Improbable},
		{"LP-9 Improbable's label on a Deployment's", map[string]string{of: "x", "pod-template-hash": "5f9c"}, by("apps/v1", "ReplicaSet", "db-5f9c"), ""},
		{"LP-10 both labels on a Deployment's", map[string]string{of: "x", ofMember: "x-0", "pod-template-hash": "5f9c"}, by("apps/v1", "ReplicaSet", "x-0-5f9c"), ""},
		{"LP-11 the ReplicaSet's name by chance", map[string]string{of: "x", ofMember: "x-5f9c", "pod-template-hash": "5f9c"}, by("apps/v1", "ReplicaSet", "x-5f9c"), ""},
		{"LP-12 another ReplicaSet", map[string]string{of: "x", ofMember: "x-0"}, by("apps/v1", "ReplicaSet", "db"), ""},
		{"LP-13 a member of another cluster", map[string]string{of: "x", ofMember: "y-0"}, by("apps/v1", "ReplicaSet", "y-0"), ""},
		{"LP-14 the cluster's label alone on a ReplicaSet's", map[string]string{of: "x"}, by("apps/v1", "ReplicaSet", "x-0"), ""},
		{"LP-15 both labels on a pod by hand", map[string]string{of: "x", ofMember: "x-0"}, nil, ""},
		{"LP-16 both labels on a node's pod", map[string]string{of: "x", ofMember: "x-0"}, by("v1", "Node", "x-0"), ""},
		{"LP-17 both labels on a DaemonSet's", map[string]string{of: "x", ofMember: "x-0"}, by("apps/v1", "DaemonSet", "x-0"), ""},
		{"LP-18 no label", nil, by("apps/v1", "ReplicaSet", "x-0"), ""},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a", Labels: row.labels}}
		if row.ref != nil {
			pod.OwnerReferences = []metav1.OwnerReference{*row.ref}
		}
		got, known := OfPod(pod)
		if got.Product.Name != row.want || known != (row.want != "") || known && got.Name != "x" {
			t.Errorf("%s: %q of %q, want %q", row.id, got.Name, got.Product.Name, row.want)
		}
	}
}

// TestOfMirrorPod holds that the label of kubeadm's manifests alone does not make a static pod kubeadm's: others
// write manifests with it, and kubeadm reset on their nodes would destroy them.
func TestOfMirrorPod(t *testing.T) {
	t.Parallel()
	const of = "kubeadm.kubernetes.io/etcd.advertise-client-urls"
	for _, row := range []struct {
		name        string
		annotations map[string]string
		labels      map[string]string
		want        Name
	}{
		{"kubeadm's", map[string]string{corev1.MirrorPodAnnotationKey: "x", of: "https://10.0.0.1:2379"}, map[string]string{"component": "etcd", "tier": "control-plane"}, Kubeadm},
		{"RKE2's", map[string]string{corev1.MirrorPodAnnotationKey: "x", "etcd.k3s.io/initial": "{}"}, map[string]string{"component": "etcd", "tier": "control-plane"}, RKE2},
		{"written by hand, with kubeadm's labels", map[string]string{corev1.MirrorPodAnnotationKey: "x"}, map[string]string{"component": "etcd", "tier": "control-plane"}, ""},
		{"kubeadm's, of another component", map[string]string{corev1.MirrorPodAnnotationKey: "x", of: "https://10.0.0.1:2379"}, map[string]string{"component": "kine"}, ""},
		{"no mirror pod", map[string]string{of: "https://10.0.0.1:2379"}, map[string]string{"component": "etcd"}, ""},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "etcd-cp-1", Labels: row.labels, Annotations: row.annotations}}
		got, known := OfPod(pod)
		if got.Product.Name != row.want || known != (row.want != "") {
			t.Errorf("%s: %q, want %q", row.name, got.Product.Name, row.want)
		}
	}
}
