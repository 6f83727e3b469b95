// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"math"
	"slices"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// spreadPatch adds terms and the record to a pod. It appends to lists and adds missing
// parents, and never replaces a field. So the pod's own terms, and fields that this program
// doesn't know, stay as they are.
func spreadPatch(pod *corev1.Pod, terms []spread.Term, selector *metav1.LabelSelector, record string) []jsonpatch.Operation {
	var required []any
	var preferred, constraints []any
	for _, t := range terms {
		switch {
		case t.Kind == spread.TopologySpread:
			constraints = append(constraints, spreadConstraint(t, selector))
		case t.Hard:
			required = append(required, affinityTerm(t, selector))
		default:
			preferred = append(preferred, corev1.WeightedPodAffinityTerm{Weight: 100, PodAffinityTerm: affinityTerm(t, selector)})
		}
	}
	ops := antiAffinity(pod, required, preferred)
	ops = append(ops, appendTo("/spec/topologySpreadConstraints", pod.Spec.TopologySpreadConstraints == nil, constraints)...)
	return append(ops, annotate(pod, record)...)
}

func antiAffinity(pod *corev1.Pod, required, preferred []any) []jsonpatch.Operation {
	if len(required)+len(preferred) == 0 {
		return nil
	}
	const affinity = "/spec/affinity"
	const anti = affinity + "/podAntiAffinity"
	var ops []jsonpatch.Operation
	have := &corev1.PodAntiAffinity{}
	switch {
	case pod.Spec.Affinity == nil:
		ops = append(ops, jsonpatch.NewOperation("add", affinity, map[string]any{"podAntiAffinity": map[string]any{}}))
	case pod.Spec.Affinity.PodAntiAffinity == nil:
		ops = append(ops, jsonpatch.NewOperation("add", anti, map[string]any{}))
	default:
		have = pod.Spec.Affinity.PodAntiAffinity
	}
	ops = append(ops, appendTo(anti+"/requiredDuringSchedulingIgnoredDuringExecution", have.RequiredDuringSchedulingIgnoredDuringExecution == nil, required)...)
	return append(ops, appendTo(anti+"/preferredDuringSchedulingIgnoredDuringExecution", have.PreferredDuringSchedulingIgnoredDuringExecution == nil, preferred)...)
}

// appendTo appends values to a list. A list that is null counts as absent, since "add"
// replaces a null.
func appendTo(path string, absent bool, values []any) []jsonpatch.Operation {
	if len(values) == 0 {
		return nil
	}
	if absent {
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", path, values)}
	}
	var ops []jsonpatch.Operation
	for _, v := range values {
		ops = append(ops, jsonpatch.NewOperation("add", path+"/-", v))
	}
	return ops
}

func annotate(pod *corev1.Pod, record string) []jsonpatch.Operation {
	switch {
	case pod.Annotations[v1alpha1.SpreadAnnotation] == record:
		return nil
	case pod.Annotations == nil:
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/metadata/annotations", map[string]string{v1alpha1.SpreadAnnotation: record})}
	}
	return []jsonpatch.Operation{jsonpatch.NewOperation("add", annotationPath(v1alpha1.SpreadAnnotation), record)}
}

func affinityTerm(t spread.Term, selector *metav1.LabelSelector) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: t.TopologyKey, LabelSelector: selector}
}

// spreadConstraint returns a term as a topology spread constraint. It has no
// matchLabelKeys: with the StatefulSet's revision as a key, a rollout would spread only the
// new pods, and could put them beside old ones.
func spreadConstraint(t spread.Term, selector *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew:           1,
		TopologyKey:       t.TopologyKey,
		WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector:     selector,
		NodeTaintsPolicy:  new(corev1.NodeInclusionPolicyHonor),
	}
	if t.Hard {
		c.WhenUnsatisfiable = corev1.DoNotSchedule
		if t.MinDomains > 0 {
			c.MinDomains = new(int32(min(t.MinDomains, math.MaxInt32)))
		}
	}
	return c
}

// clashes reports whether the pod has a spread constraint that rules this one out. The API
// server accepts one for each pair of topologyKey and whenUnsatisfiable, whatever their
// selectors are.
func clashes(pod *corev1.Pod, t spread.Term) bool {
	if t.Kind != spread.TopologySpread {
		return false
	}
	c := spreadConstraint(t, nil)
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(have corev1.TopologySpreadConstraint) bool {
		return have.TopologyKey == c.TopologyKey && have.WhenUnsatisfiable == c.WhenUnsatisfiable
	})
}
