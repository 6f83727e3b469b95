// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/kubectl-etcd/kubectl-etcd/manifests"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// TestOnlyTheBundleMayChange evaluates the policy over etcd-webhook's right to patch its own
// configuration: for every field of every webhook, a change, a removal and an addition are
// denied, except of the caBundle.
func TestOnlyTheBundleMayChange(t *testing.T) {
	t.Parallel()
	allows := admissionPolicy(t, "overlays/self-signed/bundle-only.yaml")
	if w := fresh(t); !allows(w, fresh(t)) {
		t.Fatal("a write that changes nothing is denied")
	}
	webhooks := len(fresh(t)["webhooks"].([]any))
	if webhooks == 0 {
		t.Fatal("the configuration has no webhooks")
	}
	for i := range webhooks {
		for _, field := range fieldsOf[admissionregistrationv1.MutatingWebhook]() {
			if field == "clientConfig" {
				continue
			}
			denied(t, allows, field, func(c map[string]any) map[string]any { return webhook(c, i) })
		}
		for _, field := range fieldsOf[admissionregistrationv1.WebhookClientConfig]() {
			at := func(c map[string]any) map[string]any { return webhook(c, i)["clientConfig"].(map[string]any) }
			if field == "caBundle" {
				changed := fresh(t)
				at(changed)[field] = "bmV3"
				if !allows(changed, fresh(t)) {
					t.Error("a new caBundle is denied")
				}
				continue
			}
			denied(t, allows, "clientConfig."+field, at)
		}
	}
	for _, field := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
		denied(t, allows, field, func(c map[string]any) map[string]any { return c["metadata"].(map[string]any) })
	}
}

// TestNoWebhookMayComeOrGo does the same for whole webhooks.
func TestNoWebhookMayComeOrGo(t *testing.T) {
	t.Parallel()
	allows := admissionPolicy(t, "overlays/self-signed/bundle-only.yaml")
	for name, change := range map[string]func([]any) []any{
		"removed":  func(all []any) []any { return all[1:] },
		"all gone": func([]any) []any { return []any{} },
		"added":    func(all []any) []any { return append(all, map[string]any{"name": "new"}) },
		"replaced": func(all []any) []any { all[0].(map[string]any)["name"] = "new"; return all },
	} {
		changed := fresh(t)
		changed["webhooks"] = change(changed["webhooks"].([]any))
		if allows(changed, fresh(t)) {
			t.Errorf("a webhook is %s, and the policy allows it", name)
		}
	}
}

// denied holds that a field can't be changed, removed or added.
func denied(t *testing.T, allows func(object, old map[string]any) bool, field string, at func(map[string]any) map[string]any) {
	t.Helper()
	name := field[strings.LastIndexByte(field, '.')+1:]
	for way, value := range map[string]any{"set": "other", "removed": nil} {
		changed, old := fresh(t), fresh(t)
		if value == nil {
			at(old)[name] = "there before"
			delete(at(changed), name)
		} else {
			at(changed)[name] = value
		}
		if allows(changed, old) {
			t.Errorf("%s is %s, and the policy allows it", field, way)
		}
	}
}

// TestOnlyTheStrategyMayChange does the same for etcd-webhook's right to patch StatefulSets.
func TestOnlyTheStrategyMayChange(t *testing.T) {
	t.Parallel()
	allows := admissionPolicy(t, "base/statefulset-policy.yaml")
	set := func() map[string]any {
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"author": "a", "kubectl-etcd.dev/size": "3"}},
			"spec": map[string]any{
				"template": "a", "replicas": 3, "selector": "a", "serviceName": "a", "podManagementPolicy": "Parallel", "updateStrategy": "a",
			},
		}
	}
	spec := func(o map[string]any) map[string]any { return o["spec"].(map[string]any) }
	annotations := func(o map[string]any) map[string]any {
		return o["metadata"].(map[string]any)["annotations"].(map[string]any)
	}
	changed := set()
	spec(changed)["updateStrategy"] = "b"
	annotations(changed)["kubectl-etcd.dev/rollout-value"] = "partition=3"
	if !allows(changed, set()) || !allows(set(), changed) {
		t.Error("a hold or a release is denied")
	}
	recorded := set()
	annotations(recorded)["kubectl-etcd.dev/evictions"] = "a-0=uid@2026-11-20T10:00:00Z"
	if !allows(recorded, set()) || !allows(set(), recorded) {
		t.Error("a record of evictions is denied")
	}
	for _, field := range fieldsOf[appsv1.StatefulSetSpec]() {
		if field == "updateStrategy" {
			continue
		}
		changed := set()
		spec(changed)[field] = "other"
		if allows(changed, set()) || allows(set(), changed) {
			t.Errorf("%s changes, and the policy allows it", field)
		}
	}
	for _, key := range []string{"author", "kubectl-etcd.dev/size", "kubectl-etcd.dev/etcd"} {
		changed := set()
		annotations(changed)[key] = "other"
		if allows(changed, set()) {
			t.Errorf("annotation %s changes, and the policy allows it", key)
		}
	}
	for _, field := range []string{"labels", "ownerReferences", "finalizers"} {
		changed := set()
		changed["metadata"].(map[string]any)[field] = "other"
		if allows(changed, set()) || allows(set(), changed) {
			t.Errorf("%s change, and the policy allows it", field)
		}
	}
}

// admissionPolicy compiles a ValidatingAdmissionPolicy, the first object of a file, and returns
// whether all its validations allow an update.
func admissionPolicy(t *testing.T, file string) func(object, old map[string]any) bool {
	t.Helper()
	text, err := manifests.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var policy admissionregistrationv1.ValidatingAdmissionPolicy
	if err := yaml.UnmarshalStrict(bytes.Split(text, []byte("\n---\n"))[0], &policy); err != nil {
		t.Fatal(err)
	}
	env, err := oldest.Env(environment.NewExpressions)
	if err == nil {
		env, err = env.Extend(cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType))
	}
	if err != nil {
		t.Fatal(err)
	}
	var programs []cel.Program
	for _, v := range policy.Spec.Validations {
		ast, issues := env.Compile(v.Expression)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := env.Program(ast)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, program)
	}
	return func(object, old map[string]any) bool {
		for _, program := range programs {
			value, _, err := program.Eval(map[string]any{"object": object, "oldObject": old})
			if err != nil || value.Value() != true {
				return false // the policy's failurePolicy is Fail
			}
		}
		return len(programs) > 0
	}
}

// fresh returns the configuration of the manifests as the API server gives it to a policy.
func fresh(t *testing.T) map[string]any {
	t.Helper()
	text, err := manifests.Files.ReadFile("base/webhooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

func webhook(config map[string]any, i int) map[string]any {
	return config["webhooks"].([]any)[i].(map[string]any)
}

// fieldsOf returns the JSON names of a type's fields.
func fieldsOf[T any]() (names []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
