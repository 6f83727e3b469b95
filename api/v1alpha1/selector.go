// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Selector is a label selector whose syntax the API server validates. It does not validate a
// metav1.LabelSelector in a custom resource.
type Selector struct {
	// matchLabels are the required labels with their values.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 316 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))",message="every key must be a label key such as app or example.com/app",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))",message="every value must be a label value: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit",reason="FieldValueInvalid"
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`

	// matchExpressions must all match.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	MatchExpressions []Requirement `json:"matchExpressions,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// Requirement is one expression of a Selector.
//
// +kubebuilder:validation:XValidation:rule="self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",message="values is required for In and NotIn, and must be empty for other operators",fieldPath=".values",reason="FieldValueInvalid"
type Requirement struct {
	// key is the label's key.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",message="must be a label key such as app or example.com/app",reason="FieldValueInvalid"
	Key string `json:"key"`

	// operator is the relation between the label and the values.
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`

	// values are the values for In and NotIn.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="must be a label value: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit",reason="FieldValueInvalid"
	// +listType=atomic
	Values []LabelValue `json:"values,omitempty"`
}

// LabelSelector returns the selector as Kubernetes' own type. Nil and an empty one select
// everything.
func (s *Selector) LabelSelector() *metav1.LabelSelector {
	out := &metav1.LabelSelector{}
	if s == nil {
		return out
	}
	for k, v := range s.MatchLabels {
		metav1.AddLabelToSelector(out, k, string(v))
	}
	for _, r := range s.MatchExpressions {
		req := metav1.LabelSelectorRequirement{Key: r.Key, Operator: r.Operator}
		for _, v := range r.Values {
			req.Values = append(req.Values, string(v))
		}
		out.MatchExpressions = append(out.MatchExpressions, req)
	}
	return out
}
