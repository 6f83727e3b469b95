// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"path"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/manifests"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// oldest is the environment of CEL expressions of Kubernetes 1.30, the oldest version in
// docs/install.md. For a new expression, it only accepts what the version before supported, so
// that a downgrade is possible.
var oldest = environment.MustBaseEnvSet(version.MajorMinor(1, 29))

// TestPolicyRulesForOldKubernetes compiles the validation rules of the policy's definition as an
// API server of the oldest version does.
func TestPolicyRulesForOldKubernetes(t *testing.T) {
	t.Parallel()
	var crd apiextensionsv1.CustomResourceDefinition
	read(t, "crd/policy.kubectl-etcd.dev_etcdtopologypolicies.yaml", &crd)
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		t.Fatal(err)
	}
	root, err := schema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	if rules := compileRules(t, root, true); rules < 10 {
		t.Errorf("found %d rules", rules)
	}
}

// compileRules compiles the rules of a schema and of its properties, and returns their number.
func compileRules(t *testing.T, s *schema.Structural, top bool) (rules int) {
	t.Helper()
	results, err := schemacel.Compile(s, model.SchemaDeclType(s, top), celconfig.PerCallLimit, oldest, schemacel.NewExpressionsEnvLoader())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Error != nil {
			t.Errorf("%s\n%v", s.XValidations[i].Rule, r.Error)
		}
	}
	rules = len(results)
	for _, below := range s.Properties {
		rules += compileRules(t, &below, false)
	}
	if s.Items != nil {
		rules += compileRules(t, s.Items, false)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		rules += compileRules(t, s.AdditionalProperties.Structural, false)
	}
	return rules
}

// TestMatchConditionsForOldKubernetes compiles the webhooks' match conditions in the same way.
func TestMatchConditionsForOldKubernetes(t *testing.T) {
	t.Parallel()
	var config admissionregistrationv1.MutatingWebhookConfiguration
	read(t, "base/webhooks.yaml", &config)
	compiler, conditions := admissioncel.NewCompiler(oldest), 0
	for _, w := range config.Webhooks {
		for _, c := range w.MatchConditions {
			conditions++
			condition := matchconditions.MatchCondition(c)
			r := compiler.CompileCELExpression(&condition, admissioncel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
			if r.Error != nil {
				t.Errorf("%s %s: %v", w.Name, c.Name, r.Error)
			}
		}
	}
	if conditions < 4 {
		t.Errorf("found %d conditions", conditions)
	}
}

// TestOldKubernetesIsOld checks that the oldest version refuses newer expressions.
func TestOldKubernetesIsOld(t *testing.T) {
	t.Parallel()
	_, issues := oldest.NewExpressionsEnv().Compile("format.qualifiedName().validate('a').hasValue()")
	if issues.Err() == nil {
		t.Error("a function of Kubernetes 1.31 is taken")
	}
	if _, issues := oldest.NewExpressionsEnv().Compile("'a'.matches('a')"); issues.Err() != nil {
		t.Errorf("a function that always was isn't taken: %v", issues)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := manifests.Files.ReadFile(path.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestDeletionsAreOfThePodsThatWereReviewed verifies that the webhook for deletions is called for the pods
// that the one for their creation is called for.
func TestDeletionsAreOfThePodsThatWereReviewed(t *testing.T) {
	t.Parallel()
	var config admissionregistrationv1.MutatingWebhookConfiguration
	read(t, "base/webhooks.yaml", &config)
	conditions := map[string]string{}
	for _, w := range config.Webhooks {
		for _, c := range w.MatchConditions {
			if c.Name == "may-run-etcd" {
				conditions[w.Name] = c.Expression
			}
		}
	}
	created := conditions["pods.etcd-webhook.kubectl-etcd.dev"]
	want := strings.ReplaceAll(created, "object.", "oldObject.")
	if got := conditions["pod-deletions.etcd-webhook.kubectl-etcd.dev"]; created == "" || got != want {
		t.Errorf("the condition of deletions is %s, want %s", got, want)
	}
}
