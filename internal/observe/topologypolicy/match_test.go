// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topologypolicy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	type selector = v1alpha1.Selector
	p := func(name string, priority int32, namespaces, clusters *selector) v1alpha1.EtcdTopologyPolicy {
		return v1alpha1.EtcdTopologyPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1alpha1.EtcdTopologyPolicySpec{Priority: priority, NamespaceSelector: namespaces, ClusterSelector: clusters},
		}
	}
	has := func(key, value string) *selector {
		return &selector{MatchLabels: map[string]v1alpha1.LabelValue{key: v1alpha1.LabelValue(value)}}
	}
	in := func(key string, values ...v1alpha1.LabelValue) *selector {
		return &selector{MatchExpressions: []v1alpha1.Requirement{{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values}}}
	}
	type policies = []v1alpha1.EtcdTopologyPolicy
	for _, row := range []struct {
		name     string
		policies policies
		owner    owner.Owner
		want     string // the policy's name
		conflict []string
		optedOut bool
		separate string
	}{
		{name: "no policy"},
		{name: "no selector selects all", policies: policies{p("all", 0, nil, nil)}, want: "all"},
		{name: "an empty selector selects all", policies: policies{p("all", 0, &selector{}, &selector{})}, want: "all"},
		{name: "namespace by label", policies: policies{p("prod", 0, has("env", "prod"), nil), p("dev", 0, has("env", "dev"), nil)}, want: "prod"},
		{name: "namespace by expression", policies: policies{p("prod", 0, in("env", "prod", "stage"), nil)}, want: "prod"},
		{name: "cluster by label", policies: policies{p("events", 0, nil, has("role", "events")), p("main", 0, nil, has("role", "main"))}, want: "main"},
		{name: "both must select", policies: policies{p("x", 0, has("env", "prod"), has("role", "events"))}},
		{name: "the highest priority wins", policies: policies{p("low", -1, nil, nil), p("high", 7, nil, nil), p("mid", 3, nil, nil)}, want: "high"},
		{name: "a tie at the top", policies: policies{p("b", 7, nil, nil), p("low", 0, nil, nil), p("a", 7, nil, nil)}, conflict: []string{"a", "b"}},
		{name: "a tie below the top", policies: policies{p("b", 0, nil, nil), p("a", 0, nil, nil), p("top", 1, nil, nil)}, want: "top"},
		{name: "a tie of which one selects something else", policies: policies{p("a", 7, has("env", "dev"), nil), p("b", 7, nil, nil)}, want: "b"},
		{name: "an unreadable selector selects nothing", policies: policies{p("a", 7, in("env"), nil), p("b", 0, nil, nil)}, want: "b"},
		{
			name: "opted out", policies: policies{p("all", 0, nil, nil)}, optedOut: true,
			owner: owner.Owner{Annotations: map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut}},
		},
		{
			name: "another value is no opt-out", policies: policies{p("all", 0, nil, nil)}, want: "all",
			owner: owner.Owner{Annotations: map[string]string{v1alpha1.TopologyPolicyAnnotation: "yes"}},
		},
		{
			name: "etcds of their own", policies: policies{p("all", 0, nil, nil)}, separate: "all",
			owner: owner.Owner{StatefulSet: "a", Replicas: 5, ListSelf: true},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.owner.Labels = map[string]string{"role": "main"}
			got := Choose(row.policies, labels.Set{"env": "prod"}, row.owner)
			name := ""
			if got.Policy != nil {
				name = got.Policy.Name
			}
			if name != row.want || got.Separate != row.separate || got.OptedOut != row.optedOut {
				t.Errorf("policy %q, opted out %t; want %q, %t", name, got.OptedOut, row.want, row.optedOut)
			}
			if diff := cmp.Diff(row.conflict, got.Conflict); diff != "" {
				t.Errorf("conflict (-want +got):\n%s", diff)
			}
		})
	}
}
