// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// problem is a problem while findings about members are put together.
type problem struct {
	v1alpha1.Problem

	// members are those that it is about, none for the cluster. details are what is wrong
	// with each of them.
	members, details []string
}

// problems returns the findings as status shows them. What is wrong with one member for one
// reason becomes one problem, and so do members with the same details.
func problems(findings []health.Finding) []v1alpha1.Problem {
	var all []problem
	for _, f := range findings {
		p := problem{Problem: v1alpha1.Problem{Severity: severity(f.Level), Reason: f.Reason.Name(), Message: f.Message}}
		if f.Member == "" {
			all = append(all, p)
			continue
		}
		detail := strings.TrimPrefix(f.Message, f.Member+": ")
		if i := slices.IndexFunc(all, func(o problem) bool { return o.same(p) && slices.Contains(o.members, f.Member) }); i >= 0 {
			all[i].details = append(all[i].details, detail)
			continue
		}
		p.members, p.details = []string{f.Member}, []string{detail}
		all = append(all, p)
	}
	var out []v1alpha1.Problem
	for i, p := range all {
		if len(p.members) == 0 {
			out = append(out, p.Problem)
			continue
		}
		alike := func(o problem) bool { return o.same(p) && len(o.members) > 0 && slices.Equal(o.details, p.details) }
		if slices.ContainsFunc(all[:i], alike) {
			continue
		}
		var names []string
		for _, o := range all[i:] {
			if alike(o) {
				names = append(names, o.members...)
			}
		}
		p.Message = strings.Join(names, ", ") + ": " + strings.Join(p.details, "; ")
		out = append(out, p.Problem)
	}
	return out
}

func (p problem) same(o problem) bool { return p.Severity == o.Severity && p.Reason == o.Reason }

func severity(l health.Level) string {
	if l == health.Failure {
		return v1alpha1.SeverityError
	}
	return v1alpha1.SeverityWarning
}
