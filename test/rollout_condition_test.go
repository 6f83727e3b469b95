// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"maps"
	"testing"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// TestRolloutsAreReviewed evaluates for which updates of a StatefulSet the webhook for rollouts is called: those that
// may restart pods, and those that remove what this project has recorded.
func TestRolloutsAreReviewed(t *testing.T) {
	t.Parallel()
	called := rolloutCondition(t)
	held, restarts := map[string]any{"kubectl-etcd.dev/rollout-value": "partition=2"}, map[string]any{"kubectl-etcd.dev/restart-pods": ";rolling"}
	other := map[string]any{"example.com/a": "b"}
	for _, row := range []struct {
		name          string
		before, after map[string]any // annotations
		image         string
		want          bool
	}{
		{name: "nothing changes"},
		{name: "a new template", image: "etcd:2", want: true},
		{name: "a rollout is held", before: held, after: held, want: true},
		{name: "a hold is removed", before: held, want: true},
		{name: "a restart was requested", before: restarts, after: restarts},
		{name: "its record is removed", before: restarts, want: true},
		{name: "its record is removed, others stay", before: restarts, after: other, want: true},
		{name: "its record is written", after: restarts},
		{name: "others", before: other},
	} {
		image := row.image
		if image == "" {
			image = "etcd:1"
		}
		out, _, err := called.Eval(map[string]any{
			"request": map[string]any{"operation": "UPDATE"}, "object": annotated(image, row.after), "oldObject": annotated("etcd:1", row.before),
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.Value() != row.want {
			t.Errorf("%s: it is called: %v, want %t", row.name, out.Value(), row.want)
		}
	}
}

// annotated returns a StatefulSet.
func annotated(image string, annotations map[string]any) map[string]any {
	metadata := map[string]any{"name": "main"}
	if annotations != nil {
		metadata["annotations"] = maps.Clone(annotations)
	}
	return map[string]any{"metadata": metadata, "spec": map[string]any{"template": image, "updateStrategy": "RollingUpdate"}}
}

func rolloutCondition(t *testing.T) cel.Program {
	t.Helper()
	var config admissionregistrationv1.MutatingWebhookConfiguration
	read(t, "base/webhooks.yaml", &config)
	for _, w := range config.Webhooks {
		for _, c := range w.MatchConditions {
			if c.Name != "may-restart-pods" {
				continue
			}
			env, err := cel.NewEnv(cel.Variable("request", cel.DynType), cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType))
			if err != nil {
				t.Fatal(err)
			}
			ast, issues := env.Compile(c.Expression)
			if issues.Err() != nil {
				t.Fatal(issues.Err())
			}
			program, err := env.Program(ast)
			if err != nil {
				t.Fatal(err)
			}
			return program
		}
	}
	t.Fatal("there is no condition may-restart-pods")
	return nil
}
