// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// podsEntry is the webhook by which members are spread: without it, the program
// doesn't do what it is there for.
const podsEntry = "pods"

// webhookEntries are the webhooks that the manifests register, without the suffix
// that all have, each with what doesn't happen where it is missing.
var webhookEntries = []struct{ name, without string }{
	{podsEntry, "new members aren't spread"},
	{"cozystack-pods", "new members that cozystack's etcd-operator makes aren't spread"},
	{"poddisruptionbudgets", "who loosens a budget is only corrected a moment later"},
	{"services", "who writes a Service may end its cut"},
	{"etcds", "who creates an Etcd isn't told what its members get"},
	{"statefulsets", "who creates a StatefulSet of etcd isn't told what its members get"},
}

// missing are the names of those that aren't registered.
func (j *WebhookJudge) missing() []string {
	var names []string
	for _, entry := range webhookEntries {
		if !slices.ContainsFunc(j.St.Webhooks, func(w v1alpha1.InstalledWebhook) bool { return w.Name == entry.name+WebhookSuffix }) {
			names = append(names, entry.name)
		}
	}
	return names
}

// entries holds what is registered to what the manifests install. That nothing is, is
// said elsewhere.
func (j *WebhookJudge) entries() {
	missing := j.missing()
	if len(j.St.Webhooks) == 0 || len(missing) == 0 || j.unseen(UnseenWebhooks) {
		return
	}
	var without []string
	for _, entry := range webhookEntries {
		if slices.Contains(missing, entry.name) {
			without = append(without, fmt.Sprintf("%s%s (%s)", entry.name, WebhookSuffix, entry.without))
		}
	}
	say := j.warn
	if slices.Contains(missing, podsEntry) {
		say = j.fault
	}
	say(reasonEntryMissing, "%s lacks %d of the %d webhooks that belong there: %s; %s",
		j.St.Webhooks[0].Configuration, len(missing), len(webhookEntries), strings.Join(without, ", "), applyAgain)
}
