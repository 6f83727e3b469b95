// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// TestByKubernetes checks whose deletions of pods are never refused.
func TestByKubernetes(t *testing.T) {
	t.Parallel()
	const account = "system:serviceaccount:kube-system:"
	for name, want := range map[string]bool{
		"system:kube-controller-manager": true, "system:kube-scheduler": true, "system:node:a": true,
		account + "statefulset-controller": true, account + "node-controller": true, account + "taint-eviction-controller": true,
		account + "device-taint-eviction-controller": true, account + "pod-garbage-collector": true,
		account + "generic-garbage-collector": true, account + "namespace-controller": true,
		account + "replicaset-controller": false, account + "daemon-set-controller": false, account + "job-controller": false,
		"system:serviceaccount:team:node-controller": false, "alice": false,
	} {
		req := admission.Request{}
		req.UserInfo.Username = name
		if got := byKubernetes(req); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
