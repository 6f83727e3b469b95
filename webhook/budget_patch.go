// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// budgetPatch sets a budget's one number and this project's annotations, and
// touches nothing else. Empty when all of it is there already.
func budgetPatch(pdb *policyv1.PodDisruptionBudget, have observe.BudgetValue, record observe.BudgetRecord) []jsonpatch.Operation {
	var ops []jsonpatch.Operation
	if due := *record.Value; due != have {
		ops = append(ops, jsonpatch.NewOperation("add", "/spec/"+string(due.Field), due.N))
	}
	want := record.Encode()
	if len(pdb.Annotations) == 0 {
		return append(ops, jsonpatch.NewOperation("add", "/metadata/annotations", want))
	}
	for _, key := range observe.BudgetAnnotations() {
		path := "/metadata/annotations/" + strings.ReplaceAll(key, "/", "~1")
		has, there := pdb.Annotations[key]
		wanted, needed := want[key]
		switch {
		case needed && has != wanted:
			ops = append(ops, jsonpatch.NewOperation("add", path, wanted))
		case there && !needed:
			ops = append(ops, jsonpatch.NewOperation("remove", path, nil))
		}
	}
	return ops
}

// wouldKeep is a policy's word in mode Warn, which changes nothing.
func wouldKeep(name, policyName string, wrote, value observe.BudgetValue, v policy.BudgetVerdict) decision {
	d := decision{outcome: warned, reason: reasonWarnMode}
	if wrote == value {
		d.outcome = unchanged
		return d
	}
	d.warnings = []string{fmt.Sprintf("EtcdTopologyPolicy %s (mode Warn): budget %s would be kept at %s, not %s: %s",
		policyName, name, value, wrote, v.Message)}
	return d
}
