// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestImageVersion has images whose tag is etcd's version, and images of other programs.
func TestImageVersion(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"quay.io/coreos/etcd:v3.6.5":                              "3.6.5",
		"registry.k8s.io/etcd:3.6.8-0":                            "3.6.8",
		"mirror:5000/etcd-amd64:v3.4.3@sha256:0":                  "3.4.3",
		"x/etcd-wrapper:v3.0.1":                                   "",
		"registry.k8s.io/etcdadm/etcd-manager-slim:v3.0.20230516": "",
		"quay.io/kubermatic/etcd-launcher:v3.2.1":                 "",
		"x/postgres:3.6.5":                                        "",
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.EtcdAnnotation: "c"}}}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: image}}
		if got := ImageVersion(pod); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}
