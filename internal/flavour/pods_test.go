// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
