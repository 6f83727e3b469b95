// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package terms reads and describes the scheduling terms of pods that select their own cluster.
package terms

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Term is a scheduling term of a pod that selects its own cluster.
type Term struct {
	spread.Term
	Selector *metav1.LabelSelector
}

// selfAffinity is the kind of a pod affinity term, which attracts members. This project never adds
// one, but does not add terms with the topology key of a user's.
const selfAffinity spread.TermKind = "PodAffinity"

// Self returns the pod's affinity and anti-affinity terms and spread constraints that select
// the pod itself, and so its cluster.
func Self(pod *corev1.Pod) []Term {
	var out []Term
	required := func(kind spread.TermKind, terms []corev1.PodAffinityTerm, hard bool) {
		for i := range terms {
			if termSelects(&terms[i], pod) {
				out = append(out, Term{spread.Term{Kind: kind, TopologyKey: terms[i].TopologyKey, Hard: hard}, terms[i].LabelSelector})
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
		out = append(out, Term{t, c.LabelSelector})
	}
	return out
}

// termSelects reports whether an affinity term selects a pod. A namespace selector that isn't empty
// counts as selecting the pod's namespace: a user who writes one for these labels decides about the
// placement.
func termSelects(t *corev1.PodAffinityTerm, pod *corev1.Pod) bool {
	if len(t.Namespaces) > 0 && !slices.Contains(t.Namespaces, pod.Namespace) && t.NamespaceSelector == nil {
		return false
	}
	// For each of these keys the API server adds "not the pod's own value" after admission, so
	// the term selects other clusters.
	for _, key := range t.MismatchLabelKeys {
		if _, has := pod.Labels[key]; has {
			return false
		}
	}
	return Selects(t.LabelSelector, pod)
}

// Selects reports whether a selector selects a pod. Nil selects nothing, as in the scheduler.
func Selects(s *metav1.LabelSelector, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// Has reports whether a pod has a term with a selector of this project's for its cluster.
func Has(pod *corev1.Pod, term spread.Term, o owner.Owner) bool {
	return slices.ContainsFunc(Self(pod), func(t Term) bool { return t.Term == term && o.IsTermSelector(t.Selector) })
}

// OwnKeys returns the topology keys of the pod's own terms, in order, of the required and of the
// preferred ones. Terms that admission added before are not its own.
func OwnKeys(pod *corev1.Pod, o owner.Owner) (required, preferred []string) {
	record, _ := annotation.SpreadRecordOf(pod)
	for _, t := range Self(pod) {
		keys := &preferred
		if t.Hard {
			keys = &required
		}
		injected := slices.Contains(record.Terms, t.Term) && o.IsTermSelector(t.Selector)
		if !injected && !slices.Contains(*keys, t.TopologyKey) {
			*keys = append(*keys, t.TopologyKey)
		}
	}
	return required, preferred
}

// Describe returns the effect of terms as text that may follow "members go to".
func Describe(terms []spread.Term) string {
	if len(terms) == 0 {
		return "any node"
	}
	parts := make([]string, 0, len(terms))
	for _, t := range terms {
		firmness := " (preferred)"
		if t.Hard {
			firmness = " (required)"
		}
		parts = append(parts, DescribeOne(t)+firmness)
	}
	return strings.Join(parts, " and ")
}

// DescribeOne returns the effect of a term, required or preferred, as text.
func DescribeOne(t spread.Term) string {
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
