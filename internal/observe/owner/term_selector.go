// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TermSelector returns the selector of the terms that the members get. It selects pods of StatefulSets
// only: a snapshot Job of a chart has the members' labels, and would wait for ever, because the scheduler
// applies the terms of running pods to new ones. shared is true if another StatefulSet's pods have these
// labels, too. The selector then also has the names of the first size members.
func (o Owner) TermSelector(shared bool, size int) *metav1.LabelSelector {
	if o.WithoutStatefulSet() || o.Spans() {
		return o.MemberSelector
	}
	only := metav1.LabelSelectorRequirement{Key: appsv1.StatefulSetPodNameLabel, Operator: metav1.LabelSelectorOpExists}
	if shared && size > 0 && size <= MaxMembersRead {
		only.Operator = metav1.LabelSelectorOpIn
		for i := range size {
			only.Values = append(only.Values, o.PodName(i))
		}
	}
	s := o.MemberSelector.DeepCopy()
	s.MatchExpressions = append(s.MatchExpressions, only)
	return s
}

// IsTermSelector reports whether a selector is one that TermSelector returns now or returned for another
// size, or the MemberSelector, which terms of earlier versions have.
func (o Owner) IsTermSelector(s *metav1.LabelSelector) bool {
	if equality.Semantic.DeepEqual(s, o.MemberSelector) {
		return true
	}
	if o.Spans() || s == nil { // the names of a cluster that spans several StatefulSets change as it grows
		return IsByPodNames(s)
	}
	rest := s.DeepCopy()
	rest.MatchExpressions = slices.DeleteFunc(rest.MatchExpressions, byPodName)
	return len(rest.MatchExpressions) == len(s.MatchExpressions)-1 && equality.Semantic.DeepEqual(rest, o.MemberSelector)
}

// byPodName reports whether an expression requires a pod of a StatefulSet.
func byPodName(r metav1.LabelSelectorRequirement) bool {
	return r.Key == appsv1.StatefulSetPodNameLabel && (r.Operator == metav1.LabelSelectorOpExists || r.Operator == metav1.LabelSelectorOpIn)
}
