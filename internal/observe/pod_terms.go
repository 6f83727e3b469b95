// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// PodTerm is a scheduling term that a pod carries about its own cluster.
type PodTerm struct {
	spread.Term
	Selector *metav1.LabelSelector
}

// selfAffinity is the kind of a pod affinity term, which draws members
// together. This project never injects one; a user's rules its key all the same.
const selfAffinity spread.TermKind = "PodAffinity"

// SelfTerms are the pod's affinity and anti-affinity terms and spread
// constraints that select the pod itself, and so its cluster.
func SelfTerms(pod *corev1.Pod) []PodTerm {
	var out []PodTerm
	required := func(kind spread.TermKind, terms []corev1.PodAffinityTerm, hard bool) {
		for i := range terms {
			if termSelects(&terms[i], pod) {
				out = append(out, PodTerm{spread.Term{Kind: kind, TopologyKey: terms[i].TopologyKey, Hard: hard}, terms[i].LabelSelector})
			}
		}
	}
	preferred := func(kind spread.TermKind, terms []corev1.WeightedPodAffinityTerm) {
		for i := range terms {
			required(kind, []corev1.PodAffinityTerm{terms[i].PodAffinityTerm}, false)
		}
	}
	if a := pod.Spec.Affinity; a != nil {
		if a.PodAntiAffinity != nil {
			required(spread.PodAntiAffinity, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, true)
			preferred(spread.PodAntiAffinity, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAffinity != nil {
			required(selfAffinity, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, true)
			preferred(selfAffinity, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if !Selects(c.LabelSelector, pod) {
			continue
		}
		t := spread.Term{Kind: spread.TopologySpread, TopologyKey: c.TopologyKey, Hard: c.WhenUnsatisfiable == corev1.DoNotSchedule}
		if c.MinDomains != nil {
			t.MinDomains = int(*c.MinDomains)
		}
		out = append(out, PodTerm{t, c.LabelSelector})
	}
	return out
}

// termSelects says whether an affinity term is about pods like this one. A
// namespace selector that isn't empty is taken to select the pod's namespace:
// whoever writes one about these labels has the placing in hand.
func termSelects(t *corev1.PodAffinityTerm, pod *corev1.Pod) bool {
	if len(t.Namespaces) > 0 && !slices.Contains(t.Namespaces, pod.Namespace) && t.NamespaceSelector == nil {
		return false
	}
	// The API server adds "key not in the pod's own value" for each of these,
	// after admission: such a term is about other clusters.
	for _, key := range t.MismatchLabelKeys {
		if _, has := pod.Labels[key]; has {
			return false
		}
	}
	return Selects(t.LabelSelector, pod)
}

// Selects says whether a selector selects the pod. Nil selects nothing, as the
// scheduler reads it.
func Selects(s *metav1.LabelSelector, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// HasTerm says whether the pod has a term with this selector.
func HasTerm(pod *corev1.Pod, term spread.Term, selector *metav1.LabelSelector) bool {
	return slices.ContainsFunc(SelfTerms(pod), func(t PodTerm) bool {
		return t.Term == term && equality.Semantic.DeepEqual(t.Selector, selector)
	})
}

// ownKeys are the topology keys that the pod's own terms rule, in order. Terms
// that admission put there before are not the pod's own.
func ownKeys(pod *corev1.Pod, o Owner) []string {
	record, _ := annotation.SpreadRecordOf(pod)
	var keys []string
	for _, t := range SelfTerms(pod) {
		injected := slices.Contains(record.Terms, t.Term) && equality.Semantic.DeepEqual(t.Selector, o.MemberSelector)
		if !injected && !slices.Contains(keys, t.TopologyKey) {
			keys = append(keys, t.TopologyKey)
		}
	}
	return keys
}

// DescribeTerms says what terms do to members, to follow "members go to".
func DescribeTerms(terms []spread.Term) string {
	if len(terms) == 0 {
		return "any node"
	}
	parts := make([]string, 0, len(terms))
	for _, t := range terms {
		firmness := " (preferred)"
		if t.Hard {
			firmness = " (required)"
		}
		parts = append(parts, DescribeTerm(t)+firmness)
	}
	return strings.Join(parts, " and ")
}

// DescribeTerm says what a term does, whether required or preferred.
func DescribeTerm(t spread.Term) string {
	what := "zones"
	switch t.TopologyKey {
	case spread.HostnameKey:
		what = "nodes"
	case spread.ZoneKey:
	default:
		what = "zones by " + t.TopologyKey
	}
	if t.Kind == spread.TopologySpread && t.MinDomains == 0 {
		return "evenly filled " + what
	}
	return "different " + what
}
