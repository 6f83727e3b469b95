// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestSidecars has pods with an init container beside the container app. It runs as long as the pod if it is a native
// sidecar.
//
//nolint:gocyclo // one check a way to read a pod
func TestSidecars(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id, argv, image string
		ends            bool // it is no sidecar
		app, declared   string
		want            Evidence
		member          string
		hints, err      string
	}{
		{id: "NS-1 a sidecar runs etcd", argv: "etcd --name a", want: Shown, member: "db"},
		{id: "NS-2 an init container runs etcd", argv: "etcd --name a", ends: true, want: NoEvidence},
		{id: "NS-3 a declared sidecar", argv: "/launcher", declared: "db", want: Declared, member: "db"},
		{id: "NS-4 a declared init container", argv: "/launcher", declared: "db", ends: true, want: NoEvidence, err: `"db" is an init container; it must be app, or false`},
		{id: "NS-5 a wrong declaration beside a sidecar", argv: "/launcher", declared: "x", want: NoEvidence, err: "it must be app or db, or false"},
		{id: "NS-6 a sidecar of etcd's image", argv: "/start", image: "quay.io/coreos/etcd:v3.6.5", want: NoEvidence, hints: "db: image quay.io/coreos/etcd:v3.6.5"},
		{id: "NS-7 a sidecar that may run etcd", argv: "sh -c $(RUN)", want: Hinted, hints: "db: only some ways of its script run etcd"},
		{id: "NS-8 a sidecar and a container run etcd", argv: "etcd --name a", app: "etcd --name b", want: Hinted, err: "containers app and db of the pod both run etcd"},
		{id: "NS-9 a sidecar and a container, of which one is declared", argv: "etcd --name a", app: "etcd --name b", declared: "db", want: Declared, member: "db"},
		{id: "NS-10 an init container that copies etcd", argv: "cp /usr/local/bin/etcd /x", image: "etcd", ends: true, want: NoEvidence, hints: "init container db copies etcd"},
		{id: "NS-11 a sidecar that is another program of etcd's", argv: "etcdctl watch a", image: "etcd", want: NoEvidence},
		{id: "NS-12 a denied sidecar", argv: "etcd --name a", declared: v1alpha1.NotEtcd, want: NoEvidence},
	} {
		always := corev1.ContainerRestartPolicyAlways
		db := corev1.Container{
			Name: "db", Image: row.image, Command: strings.Fields(row.argv), RestartPolicy: &always,
			Env: []corev1.EnvVar{{Name: "RUN", Value: "if a; then exec etcd; fi; exec /b"}},
		}
		if row.ends {
			db.RestartPolicy = nil
		}
		pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{db}, Containers: []corev1.Container{{Name: "app", Command: strings.Fields(row.app + " /app")}}}}
		if row.declared != "" {
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: row.declared}
		}
		m := MemberOf(pod)
		err := ""
		if m.Err != nil {
			err = m.Err.Error()
		}
		if m.Evidence != row.want || nameOf(m.Container) != row.member || (err == "") != (row.err == "") || !strings.Contains(err, row.err) {
			t.Errorf("%s: evidence %d in container %q, error %q; want %d in %q, %q", row.id, m.Evidence, nameOf(m.Container), err, row.want, row.member, row.err)
		}
		hints := HintsOf(pod)
		if row.hints != "" && !slices.ContainsFunc(hints, func(h Hint) bool {
			return strings.HasPrefix(strings.TrimPrefix(h.Container+": "+h.Text, ": "), row.hints)
		}) {
			t.Errorf("%s: hints %v, want %q", row.id, hints, row.hints)
		}
		if !row.ends { // a cache keeps no container that ends
			checkReduced(t, row.id, pod)
		}
		if row.id != "NS-1 a sidecar runs etcd" {
			continue
		}
		if config, err := ParsePod(pod, nil); err != nil || config.Name != "a" || config.Container != "db" {
			t.Errorf("%s: name %q in container %q, %v", row.id, config.Name, config.Container, err)
		}
	}
}
