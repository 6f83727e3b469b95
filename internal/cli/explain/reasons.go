// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// reason is a word that Events, conditions, annotations, audit logs and metrics
// carry, for whoever wants to know what it stands for.
type reason struct {
	Name string
	// From is who gives it, as the list is grouped: "Budget rule".
	From string
	// Doc is what it means.
	Doc string
	// Do is what to Do about it; every reason says something, if only that
	// nothing needs to be done.
	Do string
}

const noAction = policy.NoAction

// Reasons are those of the rules first, in the order of their tables, then
// those of the programs.
func Reasons() []reason {
	var all []reason
	for _, topic := range reasons.Rules() {
		all = append(all, fromTopic(topic)...)
	}
	return slices.Concat(all, budgetReasons(), factReasons(), policyReasons(), webhookReasons(), trafficReasons(), pluginReasons(), checkReasons())
}

func fromTopic(topic reasons.Topic) []reason {
	var out []reason
	for _, r := range topic.Reasons {
		out = append(out, reason{Name: r.Name(), From: topic.Name, Doc: r.Doc(), Do: r.Cure()})
	}
	return out
}

// findReason is case-insensitive: people type what they remember.
func findReason(name string) (reason, bool) {
	all := Reasons()
	i := slices.IndexFunc(all, func(r reason) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return reason{}, false
	}
	return all[i], true
}
