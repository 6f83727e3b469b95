// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// labelledSet returns a StatefulSet of three pods that all have the label app=etcd.
func labelledSet(name string, start int32) *appsv1.StatefulSet {
	app := map[string]string{"app": "etcd"}
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name}}
	s.Spec.Replicas, s.Spec.Selector, s.Spec.Template.Labels = new(int32(3)), &metav1.LabelSelector{MatchLabels: app}, app
	s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: start}
	return s
}

// labelled returns pods with the label app=etcd: those of StatefulSets, as NAME-ORDINAL, and a Job's.
func labelled(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name, Labels: map[string]string{"app": "etcd"}}}
	if name != "snapshot" {
		pod.Labels[appsv1.StatefulSetPodNameLabel] = name
	}
	return pod
}

// TestTermSelector holds that terms select the members and no other pod. The IDs are those of
// docs/rules/spread.md.
func TestTermSelector(t *testing.T) {
	t.Parallel()
	pods := []string{"main-0", "main-2", "main-4", "main-5", "events-0", "snapshot"}
	elsewhere := labelledSet("events", 0)
	elsewhere.Namespace = "other"
	bare := owner.Owner{WorkloadKind: owner.Pods, Namespace: "db", MemberSelector: labelledSet("main", 0).Spec.Selector}
	main := owner.OfStatefulSet(labelledSet("main", 0))
	for _, row := range []struct {
		row    string
		owner  owner.Owner
		beside []client.Object
		size   int
		want   []string
	}{
		{"SP-27 a Job with the members' labels", main, nil, 3, []string{"main-0", "main-2", "main-4", "main-5", "events-0"}},
		{"SP-27 the same labels in another namespace", main, []client.Object{elsewhere}, 3, []string{"main-0", "main-2", "main-4", "main-5", "events-0"}},
		{"SP-28 another StatefulSet with the members' labels", main, []client.Object{labelledSet("events", 0)}, 3, []string{"main-0", "main-2"}},
		{"SP-28 a pod beyond the replicas", main, []client.Object{labelledSet("events", 0)}, 5, []string{"main-0", "main-2", "main-4"}},
		{"SP-28 the first ordinal is 3", owner.OfStatefulSet(labelledSet("main", 3)), []client.Object{labelledSet("events", 0)}, 3, []string{"main-4", "main-5"}},
		{"SP-29 pods without a StatefulSet", bare, []client.Object{labelledSet("events", 0)}, 3, pods},
	} {
		t.Run(row.row, func(t *testing.T) {
			t.Parallel()
			r := &observe.Reader{Reader: append(observetest.Objects{labelledSet("main", 0)}, row.beside...)}
			s, err := TermSelector(t.Context(), r, row.owner, row.size)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range pods {
				if terms.Selects(s, labelled(name)) {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("%s selects %q, want %q", metav1.FormatLabelSelector(s), got, row.want)
			}
		})
	}
}

// TestOwnTermSelectors holds that terms of this version and of earlier ones are recognised after the
// cluster has grown, and that no selector of a user's is taken for one.
func TestOwnTermSelectors(t *testing.T) {
	t.Parallel()
	main := owner.OfStatefulSet(labelledSet("main", 0))
	requires := func(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		s := main.MemberSelector.DeepCopy()
		s.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}
		return s
	}
	for _, row := range []struct {
		name     string
		selector *metav1.LabelSelector
		want     bool
	}{
		{"now", main.TermSelector(false, 3), true},
		{"with names", main.TermSelector(true, 3), true},
		{"with the names of another size", main.TermSelector(true, 1), true},
		{"of an earlier version", main.MemberSelector, true},
		{"none", nil, false},
		{"all pods", &metav1.LabelSelector{}, false},
		{"names alone", &metav1.LabelSelector{MatchExpressions: main.TermSelector(true, 3).MatchExpressions}, false},
		{"all names but one", requires(appsv1.StatefulSetPodNameLabel, metav1.LabelSelectorOpNotIn, "main-0"), false},
		{"another expression", requires("role", metav1.LabelSelectorOpExists), false},
	} {
		if got := main.IsTermSelector(row.selector); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
		pod := labelled("main-0")
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone", LabelSelector: row.selector}}
		if got := terms.Has(pod, spread.Term{Kind: spread.TopologySpread, TopologyKey: "zone"}, main); got != row.want {
			t.Errorf("%s: the pod has it: %t", row.name, got)
		}
	}
	if got := len(fmt.Sprint(main.TermSelector(true, 1000))); got > 1000 {
		t.Errorf("a thousand names are written, %d bytes", got)
	}
}
