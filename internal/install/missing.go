// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// registered reports whether a webhook of that name, without the suffix, is installed.
func (j *WebhookJudge) registered(name string) bool {
	return slices.ContainsFunc(j.St.Webhooks, func(w v1alpha1.InstalledWebhook) bool { return w.Name == name+entries.Suffix })
}

// missingEntries reports the webhooks that are not registered. If none is registered, admission
// reports it.
func (j *WebhookJudge) missingEntries() {
	var missing []string
	all := entries.All()
	for _, e := range all {
		if !j.registered(e.Name) {
			missing = append(missing, fmt.Sprintf("%s%s (%s)", e.Name, entries.Suffix, e.Without))
		}
	}
	if len(j.St.Webhooks) == 0 || len(missing) == 0 || j.unseen(UnseenWebhooks) {
		return
	}
	report := j.warn
	if !j.registered(entries.Pods) {
		report = j.fault
	}
	report(reasons.WebhookEntryMissing, "%s lacks %d of its %d webhooks: %s. To register them, %s",
		j.St.Webhooks[0].Configuration, len(missing), len(all), strings.Join(missing, ", "), applyAgain)
}
