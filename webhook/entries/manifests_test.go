// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package entries_test

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/manifests"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// registration is the part of a webhook that both the list and the manifests have.
type registration struct {
	Name, Path    string
	Rules         []admissionregistrationv1.RuleWithOperations
	Timeout       time.Duration
	FailurePolicy admissionregistrationv1.FailurePolicyType
	Reinvocation  admissionregistrationv1.ReinvocationPolicyType
	SideEffects   admissionregistrationv1.SideEffectClass
}

// TestManifestsRegisterTheList compares manifests/base/webhooks.yaml with the list.
func TestManifestsRegisterTheList(t *testing.T) {
	t.Parallel()
	var listed, installed []registration
	for _, h := range entries.Handlers {
		scope := admissionregistrationv1.NamespacedScope
		if h.ClusterScoped {
			scope = admissionregistrationv1.ClusterScope
		}
		for _, e := range h.Entries {
			rule := admissionregistrationv1.RuleWithOperations{Operations: e.Operations, Rule: admissionregistrationv1.Rule{
				APIGroups: []string{e.Group}, APIVersions: []string{e.Version}, Resources: []string{e.Resource},
				Scope: new(scope),
			}}
			listed = append(listed, registration{
				e.Name + entries.Suffix, h.Path, []admissionregistrationv1.RuleWithOperations{rule}, h.Timeout, h.FailurePolicy, h.Reinvocation, h.SideEffects(),
			})
		}
	}
	for _, w := range readManifest(t).Webhooks {
		installed = append(installed, registration{
			w.Name, ptr.Deref(w.ClientConfig.Service.Path, ""), w.Rules, time.Duration(ptr.Deref(w.TimeoutSeconds, 0)) * time.Second,
			ptr.Deref(w.FailurePolicy, ""), ptr.Deref(w.ReinvocationPolicy, ""), ptr.Deref(w.SideEffects, ""),
		})
	}
	if diff := cmp.Diff(listed, installed); diff != "" {
		t.Errorf("manifests/base/webhooks.yaml differs from Handlers in webhook/entries/entries.go (-list +manifests): make both the same, in the same order:\n%s", diff)
	}
}

func readManifest(t *testing.T) (config admissionregistrationv1.MutatingWebhookConfiguration) {
	t.Helper()
	text, err := manifests.Files.ReadFile("base/webhooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// notSpread are the products without StatefulSets whose pods admission does not review, with the reason.
var notSpread = map[flavour.Name]string{
	flavour.Improbable: "a ReplicaSet creates each pod, and the pod's controller decides which pods are an operator's",
}

// TestPodsOfOperators holds that the API server sends the pods of each product that creates its pods
// itself.
func TestPodsOfOperators(t *testing.T) {
	t.Parallel()
	config := readManifest(t)
	for _, p := range flavour.All() {
		if p.Pods == nil || p.Pods.ClusterLabel == "" || notSpread[p.Name] != "" {
			continue
		}
		if !slices.ContainsFunc(config.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool { return selects(w, p.Pods.ClusterLabel) }) {
			t.Errorf("no webhook in manifests/base/webhooks.yaml reviews the pods of %s: add %s-pods there, with an objectSelector that requires the label %s, "+
				"and to the handler Pod in webhook/entries/entries.go", p.Name, p.Name, p.Pods.ClusterLabel)
		}
	}
}

// selects reports whether a webhook reviews pods that have a label and no StatefulSet.
func selects(w admissionregistrationv1.MutatingWebhook, label string) bool {
	return w.ObjectSelector != nil && slices.ContainsFunc(w.ObjectSelector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == label && r.Operator == metav1.LabelSelectorOpExists
	})
}

// TestOverlaysKeepTheList holds that no overlay changes a webhook of the base.
func TestOverlaysKeepTheList(t *testing.T) {
	t.Parallel()
	files := 0
	err := fs.WalkDir(manifests.Files, "overlays", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := manifests.Files.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var object struct {
				Kind     string
				Webhooks []any
				Patches  []struct{ Path string }
			}
			if err := yaml.Unmarshal(part, &object); err != nil {
				return err
			}
			if strings.HasSuffix(object.Kind, "WebhookConfiguration") && len(object.Webhooks) > 0 {
				t.Errorf("%s has webhooks of its own", path)
			}
			for _, p := range object.Patches {
				if p.Path == "" {
					t.Errorf("%s has a patch that is not a file, so this test can't read it", path)
				}
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// TestHandlersAnswerInTime holds that the API server still waits when a handler's time is over.
func TestHandlersAnswerInTime(t *testing.T) {
	t.Parallel()
	for _, h := range entries.Handlers {
		if h.Limit <= 0 || h.Limit > h.Timeout-500*time.Millisecond {
			t.Errorf("%s may take %s, and the API server waits %s", h.Name, h.Limit, h.Timeout)
		}
		if h.Path == "" || len(h.Entries) == 0 {
			t.Errorf("%+v is never called", h)
		}
		for _, e := range h.Entries {
			if e.Without == "" {
				t.Errorf("%s lacks the consequence of its absence", e.Name)
			}
		}
	}
}
