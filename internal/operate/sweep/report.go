// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// Report returns what is left over in a namespace for printing. The namespace is empty for all.
func (s *State) Report(namespace string) *v1alpha1.SweepReport {
	r := &v1alpha1.SweepReport{Namespace: namespace, Items: []v1alpha1.Leftover{}}
	left := s.Left()
	for at := range left {
		i := &left[at]
		out := v1alpha1.Leftover{
			Kind: string(i.Facts.Kind), Namespace: i.Namespace, Object: i.Object(), Cluster: i.Cluster,
			Action: i.Result.Action.String(), Reason: i.Result.Reason.Name(), Message: i.Result.Message, Ways: i.Ways,
		}
		if !i.Since.IsZero() {
			out.Since = &metav1.Time{Time: i.Since}
		}
		r.Items = append(r.Items, out)
	}
	for _, u := range s.Unseen {
		r.Unseen = append(r.Unseen, v1alpha1.Unseen{What: u.What, Why: u.Why})
	}
	return r
}

// Used returns the objects of operations that hold their lock, or that held it a short time ago.
func (s *State) Used() []string {
	var objects []string
	for at := range s.Items {
		if i := &s.Items[at]; i.Result.Reason == rules.OperationRuns {
			objects = append(objects, i.Object())
		}
	}
	return objects
}

// Doubt returns what is not known, or nothing if it is known of each object whether it is left over.
func (s *State) Doubt() string {
	open := 0
	for _, i := range s.Items {
		if i.Result.Action == rules.NotKnown {
			open++
		}
	}
	switch {
	case open > 0:
		return fmt.Sprintf("it is not known whether %s is left over%s", policy.Count(open, "object"), s.because())
	case len(s.Unseen) > 0:
		return "it is not known whether more is left over" + s.because()
	}
	return ""
}

// because returns the first reason for which something is not known.
func (s *State) because() string {
	if len(s.Unseen) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s: %s", s.Unseen[0].What, s.Unseen[0].Why)
}
