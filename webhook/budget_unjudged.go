// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// unobserved returns the Decision on a write that can't be judged, because something that the rule must
// know can't be read: whose budget it is, which policy keeps it, or how the members are. The write
// passes, but it neither loosens a value that we set nor changes our record of it. Otherwise a read that
// fails would let any client loosen a budget.
func (w *budgetWrite) unobserved(req admission.Request, err error) Decision {
	return w.keepWithoutFacts(unobserved("budget", req, err))
}

// keepWithoutFacts adds to a Decision what keeps the value and the record that the budget had before the write.
func (w *budgetWrite) keepWithoutFacts(d Decision) Decision {
	if w.old == nil || w.old.Annotations[v1alpha1.BudgetForAnnotation] == "" {
		return d
	}
	d.Patch = append(d.Patch, w.recordPatch(recordOf(w.old.Annotations))...)
	was, lost := annotation.ValueOf(w.old.Name, &w.old.Spec)
	is, problem := annotation.ValueOf(w.budget.Name, &w.budget.Spec)
	if lost == nil && problem == nil && mayBeLooser(was, is) {
		if is.Field != was.Field {
			d.Patch = append(d.Patch, jsonpatch.NewOperation("remove", "/spec/"+string(is.Field), nil))
		}
		d.Patch = append(d.Patch, jsonpatch.NewOperation("add", "/spec/"+string(was.Field), was.IntOrString()))
		d.Warnings = append(d.Warnings, "budget "+w.budget.Name+" stays at "+was.String()+" until the facts can be read again")
	}
	if len(d.Patch) > 0 {
		d.Outcome = Patched
	}
	return d
}

// recordOf returns the annotations of this project's record among those of a budget.
func recordOf(annotations map[string]string) map[string]string {
	record := map[string]string{}
	for _, key := range annotation.BudgetAnnotations() {
		if value, has := annotations[key]; has {
			record[key] = value
		}
	}
	return record
}

// mayBeLooser reports whether a value may allow more evictions than another one, for some number of
// members. How many there are is not known.
func mayBeLooser(was, is annotation.BudgetValue) bool {
	switch {
	case is.Field == annotation.MaxUnavailable && is.N == 0, is.Field == annotation.MinAvailable && is.Percent && is.N == 100:
		return false
	case is.Field != was.Field || is.Percent != was.Percent:
		return true
	case is.Field == annotation.MaxUnavailable:
		return is.N > was.N
	}
	return is.N < was.N
}
