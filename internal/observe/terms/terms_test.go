// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package terms

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

func TestOwnKeys(t *testing.T) {
	t.Parallel()
	mine := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "etcd"}}
	other := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
	term := func(key string, s *metav1.LabelSelector) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: s}
	}
	anti := func(terms ...corev1.PodAffinityTerm) corev1.PodSpec {
		return corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}}
	}
	with := func(t corev1.PodAffinityTerm, change func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
		change(&t)
		return t
	}
	created := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	hard := annotation.SpreadRecord{Terms: []spread.Term{{Kind: spread.PodAntiAffinity, TopologyKey: "host", Hard: true}}}
	for _, row := range []struct {
		name   string
		record string
		spec   corev1.PodSpec
		want   []string
	}{
		{"no terms", "", corev1.PodSpec{}, nil},
		{"required and preferred, each key once", "", corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{term("zone", mine), term("zone", mine)},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term("host", mine)}},
		}}}, []string{"zone", "host?"}},
		{"spread constraint", "", corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: "zone", LabelSelector: mine}}}, []string{"zone?"}},
		{"spread constraint, required", "", corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: "zone", LabelSelector: mine, WhenUnsatisfiable: corev1.DoNotSchedule}}}, []string{"zone"}},
		{"affinity draws members together: its author's zone rules", "", corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term("zone", mine)},
		}}}, []string{"zone"}},
		{"about other pods", "", anti(term("host", other)), nil},
		{"no selector selects nothing", "", anti(term("host", nil)), nil},
		{"an empty selector selects all", "", anti(term("host", &metav1.LabelSelector{})), []string{"host"}},
		{"expressions", "", anti(term("host", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}})), []string{"host"}},
		{"another namespace", "", anti(with(term("host", mine), func(t *corev1.PodAffinityTerm) { t.Namespaces = []string{"elsewhere"} })), nil},
		{"all namespaces", "", anti(with(term("host", mine), func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} })), []string{"host"}},
		{"other values of the pod's own label", "", anti(with(term("host", mine), func(t *corev1.PodAffinityTerm) { t.MismatchLabelKeys = []string{"app"} })), nil},
		{"ours, on record", hard.String(), anti(term("host", mine)), nil},
		{"ours, on record, beside the user's", hard.String(), anti(term("host", mine), term("zone", mine)), []string{"zone"}},
		{"same key, not on record", annotation.SpreadRecord{}.String(), anti(term("host", mine)), []string{"host"}},
		{"ours, with the key of pod names", hard.String(), anti(term("host", owner.Owner{MemberSelector: mine}.TermSelector(false, 3))), nil},
		{"on the record of another pod, in the template", annotation.SpreadRecord{At: created.Add(-time.Hour), Terms: hard.Terms}.String(), anti(term("host", mine)), []string{"host"}},
		{"on its own record", annotation.SpreadRecord{At: created, Terms: hard.Terms}.String(), anti(term("host", mine)), nil},
		{"on record, another selector", hard.String(), anti(term("host", &metav1.LabelSelector{})), []string{"host"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "db", CreationTimestamp: metav1.NewTime(created), Labels: map[string]string{"app": "etcd", "statefulset.kubernetes.io/pod-name": "etcd-0"}}, Spec: row.spec}
			if row.record != "" {
				pod.Annotations = map[string]string{v1alpha1.SpreadAnnotation: row.record}
			}
			got, soft := OwnKeys(pod, owner.Owner{MemberSelector: mine})
			for _, key := range soft {
				got = append(got, key+"?")
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("ownKeys = %q, want %q", got, row.want)
			}
		})
	}
}
