// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Reason explains the name of a reason in Events, conditions, annotations, audit logs and metrics.
type Reason struct {
	Name string
	// From is the component or rule that sets it, such as "Budget rule". The list is grouped by it.
	From string
	// Doc is the meaning.
	Doc string
	// Do is what the user can do about it, or noAction.
	Do string
}

const noAction = policy.NoAction

// Reasons returns the reasons of the rules in the order of their tables, and then those of the
// programs.
func Reasons() []Reason {
	var all []Reason
	for _, topic := range reasons.Rules() {
		all = append(all, fromTopic(topic)...)
	}
	return slices.Concat(all, budgetReasons(), factReasons(), policyReasons(), webhookReasons(), trafficReasons(), pluginReasons(), checkReasons())
}

func fromTopic(topic reasons.Topic) []Reason {
	var out []Reason
	for _, r := range topic.Reasons {
		out = append(out, Reason{Name: r.Name(), From: topic.Name, Doc: r.Doc(), Do: r.Cure()})
	}
	return out
}

// findReason ignores the case of the name.
func findReason(name string) (Reason, bool) {
	all := Reasons()
	i := slices.IndexFunc(all, func(r Reason) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return Reason{}, false
	}
	return all[i], true
}
