// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/manifests"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestConditionsMissNoEtcd evaluates the webhooks' match conditions on the
// containers of many installations. They may let too much through, never too
// little: whatever the code would recognise must come to it.
func TestConditionsMissNoEtcd(t *testing.T) {
	t.Parallel()
	pods := condition(t, "pods.etcd-webhook.kubectl-etcd.dev")
	sets := condition(t, "statefulsets.etcd-webhook.kubectl-etcd.dev")
	for _, row := range []struct {
		name, containers string
		// unseen is true if the code knows only by the owner, or by more than the containers, that it is etcd.
		etcd, unseen bool
		// portOnly is true if only a StatefulSet that declares it is warned of.
		portOnly bool
	}{
		{name: "etcd's documentation", containers: `[{name: m, image: quay.io/x/y, command: [/usr/local/bin/etcd], args: [--data-dir=/data]}]`, etcd: true},
		{name: "druid", containers: `[{name: a, image: wrapper, args: [start-etcd, "--etcd-client-port=2379"]}, {name: b, image: c, args: [server]}]`, etcd: true, unseen: true},
		{name: "etcd-io's operator", containers: `[{name: etcd, image: gcr.io/etcd-development/etcd:v3.6.1, command: [/usr/local/bin/etcd], args: ["--name=$(POD_NAME)"]}]`, etcd: true},
		{name: "the image's own entry point and flags alone", containers: `[{name: db, image: registry.example/db, args: ["--listen-client-urls=http://0.0.0.0:2379", --initial-advertise-peer-urls, "http://x:2380"]}]`, etcd: true},
		{name: "Bitnami", containers: `[{name: db, image: docker.io/x/y, env: [{name: MY_STS_NAME, value: x}, {name: ETCD_DATA_DIR, value: /d}]}]`, etcd: true, unseen: true},
		{name: "variables of listening", containers: `[{name: db, image: x, env: [{name: ETCD_LISTEN_PEER_URLS, value: x}]}]`, etcd: true, unseen: true},
		{name: "HyperShift's shell", containers: `[{name: x, image: y, command: [/bin/sh, -c, "ETCD_INITIAL_CLUSTER_STATE=$(cat /s) /usr/bin/etcd"]}]`, etcd: true},
		{name: "k0smotron's script", containers: `[{name: x, image: y, command: [/bin/bash, -c], args: ["set -e\nexec etcd --name=a \\\n --data-dir=/d"]}]`, etcd: true},
		{name: "tini", containers: `[{name: x, image: y, command: [tini, --, etcd]}]`, etcd: true},
		{name: "beside a sidecar", containers: `[{name: proxy, image: envoy}, {name: x, image: y, command: [etcd]}]`, etcd: true},
		{name: "a launcher with etcd's port", containers: `[{name: db, image: x, command: [/launch], ports: [{containerPort: 2379}]}]`, etcd: true, unseen: true, portOnly: true},
		{name: "another database", containers: `[{name: postgres, image: postgres:17, args: [-c, shared_buffers=1GB], env: [{name: PGDATA, value: /d}]}]`},
		{name: "nothing but an image", containers: `[{name: web, image: nginx}]`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var spec corev1.PodSpec
			if err := yaml.UnmarshalStrict([]byte("{containers: "+row.containers+"}"), &spec); err != nil {
				t.Fatal(err)
			}
			if got := etcdconf.RunsEtcd(&corev1.Pod{Spec: spec}); got != (row.etcd && !row.unseen) {
				t.Errorf("the code recognises it: %v", got)
			}
			var object map[string]any
			if err := yaml.Unmarshal([]byte("{containers: "+row.containers+"}"), &object); err != nil {
				t.Fatal(err)
			}
			pod := map[string]any{"metadata": map[string]any{}, "spec": object}
			if got := holds(t, pods, pod); got != row.etcd {
				t.Errorf("the pods' condition holds: %v", got)
			}
			set := map[string]any{"metadata": map[string]any{}, "spec": map[string]any{"template": pod}}
			if got := holds(t, sets, set); got != (row.etcd && !row.portOnly) {
				t.Errorf("the StatefulSets' condition holds: %v", got)
			}
		})
	}
}

// condition is the expression of a webhook that asks what its object runs.
func condition(t *testing.T, webhook string) cel.Program {
	t.Helper()
	text, err := manifests.Files.ReadFile("base/webhooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Webhooks []struct {
			Name            string
			MatchConditions []struct{ Name, Expression string }
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	for _, w := range config.Webhooks {
		for _, c := range w.MatchConditions {
			if w.Name == webhook && c.Name == "may-run-etcd" {
				return compile(t, c.Expression)
			}
		}
	}
	t.Fatalf("webhook %s has no such condition", webhook)
	return nil
}

func compile(t *testing.T, expression string) cel.Program {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable("object", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	tree, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(tree)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func holds(t *testing.T, p cel.Program, object map[string]any) bool {
	t.Helper()
	out, _, err := p.Eval(map[string]any{"object": object})
	if err != nil {
		t.Fatal(err)
	}
	return out.Value() == true
}
