// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestHintsOfImages has images of etcd as mirrors and architectures call them, and those of programs that work with etcd.
func TestHintsOfImages(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]bool{
		"quay.io/coreos/etcd:v3.6.5": true, "rancher/mirrored-coreos-etcd:v3.5.21": true, "rancher/hardened-etcd:v3.5.9-k3s1": true,
		"gcr.io/etcd-development/etcd-amd64@sha256:0": true, "mirror:5000/x/etcd-arm64": true, "registry.k8s.io/etcd": true,
		"evildecay/etcdkeeper": false, "acme/etcd-backup:1": false, "acme/etcd-backup-restore": false, "etcd-operator": false, "acme/etcd-defrag": false,
		"etcd-druid": false, "acme/prometheus-etcd-exporter": false, "netcd": false, "acme/backup-etcd": false, "etcdctl": false, "betcd": false,
		"ghcr.io/kubectl-etcd/etcd-webhook:dev": false, "ghcr.io/kubectl-etcd/kubectl-etcd:v1": false, "acme/etcd-compactor": false, "acme/etcd-certs-init": false,
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}
		if got := len(HintsOf(pod)) > 0; got != want || RunsEtcd(pod) {
			t.Errorf("%s: hinted %t, want %t, shown %t", image, got, want, RunsEtcd(pod))
		}
	}
}
