// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// unreadable lets pass an object that can't be decoded: whether it is valid is
// the API server's to say.
func unreadable(what string, req admission.Request, err error) decision {
	return decision{outcome: failedOpen, reason: reasonUnreadable, warnings: []string{notJudged(what, req.Name, plainly(err))}}
}

// plainly spares whoever reads an error of decoding the Go types that it names.
func plainly(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("its field %s can't be of type %s", wrong.Field, wrong.Value)
	}
	return err
}

// unobserved lets pass what can't be judged now. A member without terms starts;
// a refusal could keep a cluster from getting its quorum back.
func unobserved(what string, req admission.Request, err error) decision {
	return decision{outcome: failedOpen, reason: reasonUnobserved, warnings: []string{notJudged(what, req.Name, err)}}
}

func notJudged(what, name string, err error) string {
	return fmt.Sprintf("EtcdTopologyPolicy is not applied to %s %s: %v", what, name, err)
}

func conflictWarning(policies []string, owner observe.Owner) string {
	return fmt.Sprintf("EtcdTopologyPolicies %s select %s with the same priority, so none applies; give one a higher priority",
		strings.Join(policies, ", "), owner)
}

// wouldSpread is a policy's word in mode Warn, which changes nothing.
func wouldSpread(pod, policyName string, v policy.SpreadVerdict) decision {
	d := decision{outcome: warned, reason: reasonWarnMode}
	d.warnings = append(d.warnings, fmt.Sprintf("EtcdTopologyPolicy %s (mode Warn): pod %s would go to %s", policyName, pod, observe.DescribeTerms(v.Terms)))
	for _, n := range v.Notes {
		d.warnings = append(d.warnings, n.Message)
	}
	return d
}
