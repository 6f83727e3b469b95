// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Plan returns the plan of the uninstallation.
func (u *Uninstaller) Plan(found *Installation) operate.Plan {
	p := operate.Plan{Title: "uninstall etcd-webhook"}
	step := func(objects []Object, format string) {
		if len(objects) > 0 {
			p.Steps = append(p.Steps, fmt.Sprintf(format, names(objects)))
		}
	}
	step(found.Webhooks, "delete %s; the API server no longer calls etcd-webhook")
	for _, s := range found.Cut {
		p.Steps = append(p.Steps, fmt.Sprintf("restore client traffic of Service %s/%s", s.Namespace, s.Name))
	}
	step(found.Suspended, "let etcd-druid reconcile %s again, which a cut of client traffic suspended")
	step(slices.Concat(found.Rights, found.Programs), "delete %s; budgets are no longer maintained")
	for i := range found.Budgets {
		p.Steps = append(p.Steps, budgetStep(&found.Budgets[i]))
	}
	for i := range found.Rollouts {
		p.Steps = append(p.Steps, fmt.Sprintf("restore the update strategy of StatefulSet %s/%s, whose cluster is well; its rollout then continues without regard for the health of etcd", found.Rollouts[i].Namespace, found.Rollouts[i].Name))
	}
	for i := range found.Recorded {
		p.Steps = append(p.Steps, fmt.Sprintf("remove the record of evictions from StatefulSet %s/%s", found.Recorded[i].Namespace, found.Recorded[i].Name))
	}
	p.Warnings = append(p.Warnings, found.Sizes...)
	for _, h := range found.Held {
		p.Warnings = append(p.Warnings, u.staysHeld(h))
	}
	for _, s := range found.StaysCut {
		p.Warnings = append(p.Warnings, u.staysCut(s))
	}
	step(found.Rest, "delete %s")
	step(found.Records, "delete %s, the records of cuts that have ended")
	switch {
	case u.All:
		step(found.Policies, "delete %s")
		step(found.Definition, "delete %s")
	case len(found.Policies)+len(found.Definition) > 0:
		p.Facts = append(p.Facts, fmt.Sprintf("policies (%d) and their definition stay without a status, and apply again after a new installation. --all deletes them", len(found.Policies)))
	}
	for _, s := range found.Retained {
		p.Facts = append(p.Facts, s.String())
	}
	p.Subject = strings.Join(p.Steps, "\n")
	restarts := "no pod restarts"
	if len(found.Rollouts) > 0 {
		restarts = "only the pods of these rollouts restart"
	}
	p.Facts = append(p.Facts, restarts+". Members keep their scheduling terms until their pods are created again")
	return p
}

func budgetStep(pdb *policyv1.PodDisruptionBudget) string {
	if observe.NotCopied(pdb) {
		return fmt.Sprintf("delete budget %s/%s, which etcd-webhook created", pdb.Namespace, pdb.Name)
	}
	text := fmt.Sprintf("restore budget %s/%s", pdb.Namespace, pdb.Name)
	if original := pdb.Annotations[v1alpha1.BudgetOriginalAnnotation]; original != "" {
		text += " to its author's " + original + " (but not below the quorum)"
	}
	return text
}
