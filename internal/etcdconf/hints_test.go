// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestHintsOfKops has the static pod of kOps' etcd-manager, which downloads or copies etcd and starts it. It has no
// port, and nothing in it is called etcd.
func TestHintsOfKops(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/kops-etcd-manager.pod.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict(text, &pod); err != nil {
		t.Fatal(err)
	}
	want := []Hint{
		{Container: "etcd-manager", Text: "image registry.k8s.io/etcdadm/etcd-manager-slim:v3.0.20230516"},
		{Container: "etcd-manager", Text: "its command is /bin/sh, which may be a launcher"},
		{Text: "init container init-etcd-3-5-7 copies etcd from image registry.k8s.io/etcd:3.5.7-0"},
		{Text: "label k8s-app=etcd-manager-main"},
	}
	if got := HintsOf(&pod); !slices.Equal(got, want) {
		t.Errorf("hints %q, want %q", got, want)
	}
	if RunsEtcd(&pod) {
		t.Error("it is shown to run etcd")
	}
}
