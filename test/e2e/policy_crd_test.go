// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

func policyObject(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("EtcdTopologyPolicy"))
	obj.SetName(name)
	return obj
}

func TestPolicyRefused(t *testing.T) {
	beside(t)
	const labelKey, duration = "must be a label key such as", "must be a duration such as 90s or 1h30m, more than 0s and at most "
	for _, row := range []struct{ spec, field, reason string }{
		{`mode: Maybe`, "spec.mode", `supported values: "Enforce", "Warn", "Off"`},
		{`priority: 3000000000`, "spec.priority", "int32"},
		{`spread: {topology: Rack}`, "spec.spread.topology", `supported values: "Auto", "Zone", "Hostname"`},
		{`spread: {enforcement: Sometimes}`, "spec.spread.enforcement", `supported values: "Required", "Preferred"`},
		{`spread: {form: Ring}`, "spec.spread.form", `supported values: "TopologySpread", "AntiAffinity"`},
		{`spread: {topology: Hostname, form: AntiAffinity}`, "spec.spread.form", "form AntiAffinity is only for zones"},
		{`spread: {zoneKey: "a b"}`, "spec.spread.zoneKey", labelKey},
		{`spread: {zoneKey: kubernetes.io/hostname}`, "spec.spread.zoneKey", "a host name is not a zone"},
		{`disruption: {backupHoldLimit: 0s}`, "spec.disruption.backupHoldLimit", duration + "168h"},
		{`disruption: {backupHoldLimit: 169h}`, "spec.disruption.backupHoldLimit", duration + "168h"},
		{`disruption: {backupHoldLimit: forever}`, "spec.disruption.backupHoldLimit", duration + "168h"},
		{`disruption: {staleLimit: -1m}`, "spec.disruption.staleLimit", duration + "24h"},
		{`disruption: {staleLimit: 25h}`, "spec.disruption.staleLimit", duration + "24h"},
		{`disruption: {settle: 61m}`, "spec.disruption.settle", duration + "1h"},
		{`clusterSelector: {matchLabels: {"a b": c}}`, "spec.clusterSelector.matchLabels", "every key must be a label key"},
		{`clusterSelector: {matchLabels: {a: "b c"}}`, "spec.clusterSelector.matchLabels", "every value must be a label value"},
		{`namespaceSelector: {matchExpressions: [{key: a//b, operator: Exists}]}`, "spec.namespaceSelector.matchExpressions[0].key", labelKey},
		{`namespaceSelector: {matchExpressions: [{key: a, operator: Equals}]}`, "spec.namespaceSelector.matchExpressions[0].operator", `"In", "NotIn", "Exists", "DoesNotExist"`},
		{`namespaceSelector: {matchExpressions: [{key: a, operator: In}]}`, "spec.namespaceSelector.matchExpressions[0].values", "is required for In and NotIn"},
		{`namespaceSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}`, "spec.namespaceSelector.matchExpressions[0].values", "must be empty for other operators"},
		{`namespaceSelector: {matchExpressions: [{key: a, operator: In, values: [b c]}]}`, "spec.namespaceSelector.matchExpressions[0].values[0]", "must be a label value"},
	} {
		t.Run(row.spec, func(t *testing.T) {
			t.Parallel()
			err := kube.Create(t.Context(), policyObject(t, "refused", row.spec), client.DryRunAll)
			if !apierrors.IsInvalid(err) {
				t.Fatalf("the API server answers: %v", err)
			}
			for _, want := range []string{row.field, row.reason} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("refusal %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestPolicyAcceptedAndDefaulted(t *testing.T) {
	beside(t)
	defaults := v1alpha1.EtcdTopologyPolicySpec{
		Mode:   v1alpha1.ModeEnforce,
		Spread: v1alpha1.Spread{Topology: v1alpha1.TopologyAuto, Enforcement: v1alpha1.EnforcementRequired, Form: v1alpha1.FormTopologySpread, ZoneKey: "topology.kubernetes.io/zone"},
		Disruption: v1alpha1.Disruption{
			Enabled:         new(true),
			BackupHoldLimit: &metav1.Duration{Duration: time.Hour},
			StaleLimit:      &metav1.Duration{Duration: 10 * time.Minute},
			Settle:          &metav1.Duration{Duration: time.Minute},
			Evictions:       v1alpha1.ModeEnforce, Deletes: v1alpha1.ModeWarn,
		},
		Scale:   v1alpha1.Scale{Guard: v1alpha1.ModeEnforce},
		Rollout: v1alpha1.Rollout{Guard: v1alpha1.ModeOff, HoldLimit: &metav1.Duration{Duration: time.Hour}},
	}
	for _, row := range []struct {
		spec string
		want func(*v1alpha1.EtcdTopologyPolicySpec)
	}{
		{`{}`, func(*v1alpha1.EtcdTopologyPolicySpec) {}},
		{`{spread: {}, disruption: {}}`, func(*v1alpha1.EtcdTopologyPolicySpec) {}},
		{`{spread: {topology: Zone, form: AntiAffinity, zoneKey: example.com/rack}}`, func(s *v1alpha1.EtcdTopologyPolicySpec) {
			s.Spread.Topology, s.Spread.Form, s.Spread.ZoneKey = v1alpha1.TopologyZone, v1alpha1.FormAntiAffinity, "example.com/rack"
		}},
		{`{mode: "Off", priority: -7, disruption: {enabled: false, settle: 1m30s, createMissing: true}}`, func(s *v1alpha1.EtcdTopologyPolicySpec) {
			s.Mode, s.Priority = v1alpha1.ModeOff, -7
			s.Disruption.Enabled, s.Disruption.CreateMissing = new(false), true
			s.Disruption.Settle = &metav1.Duration{Duration: 90 * time.Second}
		}},
		{`{namespaceSelector: {matchExpressions: [{key: a.b/c, operator: NotIn, values: [x, ""]}]}, clusterSelector: {matchLabels: {x.y/z: ""}}}`, func(s *v1alpha1.EtcdTopologyPolicySpec) {
			s.NamespaceSelector = &v1alpha1.Selector{MatchExpressions: []v1alpha1.Requirement{{Key: "a.b/c", Operator: metav1.LabelSelectorOpNotIn, Values: []v1alpha1.LabelValue{"x", ""}}}}
			s.ClusterSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{"x.y/z": ""}}
		}},
	} {
		t.Run(row.spec, func(t *testing.T) {
			t.Parallel()
			obj := policyObject(t, "accepted", row.spec)
			if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			text, err := obj.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var got v1alpha1.EtcdTopologyPolicy
			if err := yaml.UnmarshalStrict(text, &got); err != nil {
				t.Fatal(err)
			}
			want := *defaults.DeepCopy()
			row.want(&want)
			if diff := cmp.Diff(want, got.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPolicyColumns(t *testing.T) {
	beside(t)
	// The policy is off and has the lowest priority, so it governs no cluster.
	obj := policyObject(t, "columns", `{mode: "Off", priority: -2147483648, clusterSelector: {matchLabels: {no: cluster}}}`)
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.Delete(context.WithoutCancel(t.Context()), obj); err != nil {
			t.Error(err)
		}
	})
	kubectl := func(args ...string) string {
		var out bytes.Buffer
		if err := clusters.Kubectl(t.Context(), bed, &out, args...); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		return out.String()
	}
	header, row, _ := strings.Cut(kubectl("get", "etp", "columns"), "\n")
	if got, want := strings.Join(strings.Fields(header), " "), "NAME MODE TOPOLOGY PRIORITY CLUSTERS BROKEN UNPROTECTED CONFLICT AGE"; got != want {
		t.Errorf("columns %q, want %q", got, want)
	}
	if got, want := strings.Join(strings.Fields(row)[:4], " "), "columns Off Auto -2147483648"; got != want {
		t.Errorf("row %q, want %q", got, want)
	}
	// A category named etcd would make this command list policies instead of druid's Etcds.
	if out := kubectl("get", "etcd", "--all-namespaces", "-o", "name"); strings.Contains(out, "etcdtopologypolic") {
		t.Errorf("kubectl get etcd lists policies:\n%s", out)
	}
}
