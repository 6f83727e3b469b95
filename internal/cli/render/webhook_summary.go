// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

var webhookHealth = map[string]string{
	v1alpha1.Healthy: "it works", v1alpha1.Degraded: "it works, but has problems", v1alpha1.Down: "it does not work",
	v1alpha1.Unknown: "unknown", v1alpha1.NotInstalled: "not installed",
}

func webhookSummary(p *ui.Page, st *v1alpha1.WebhookStatus) {
	paint := cmp.Or(ui.HealthColors[st.Health], ui.Red)
	p.Section("Health", paint, webhookHealth[st.Health])
	g := st.Program
	if g.Deployment != "" {
		p.Section("Program", ui.NoColor, fmt.Sprintf("Deployment %s/%s, %d of %d replicas ready, leader %s", g.Namespace, g.Deployment, g.Ready, g.Desired, cmp.Or(g.Leader, "none")))
	}
	p.Section("Version", ui.NoColor, webhookVersions(st))
	if t := st.Admission; t.Asked != "" {
		p.Section("Dry run", ui.NoColor, t.Asked)
		p.Section("Answer", trialColor(t), trialText(t))
	}
	if c := install.FirstExpiry(g.Replicas); c != nil {
		j := install.WebhookJudge{St: st}
		p.Section("Certificate", ui.NoColor, fmt.Sprintf("for %s, issued by %s, %s (%s)", strings.Join(c.Names, ", "), c.Issuer,
			j.EndOf(c), format.Time(c.NotAfter.Time)))
	}
	for _, scope := range webhookScopes(st) {
		p.Section("Scope", ui.NoColor, scope)
	}
}

func webhookVersions(st *v1alpha1.WebhookStatus) string {
	text := "plugin " + st.PluginVersion
	if v := st.Program.Version; v != "" {
		if digest, is := strings.CutPrefix(v, "sha256:"); is && len(digest) > 12 {
			v = "sha256:" + digest[:12] + "…"
		}
		text = "etcd-webhook " + v + ", " + text
	}
	return text
}

func trialColor(t v1alpha1.AdmissionTrial) ui.Color {
	if !t.Answered || install.PassedBy(t) {
		return ui.Red
	}
	return ui.Green
}

func trialText(t v1alpha1.AdmissionTrial) string {
	if !t.Answered {
		return strings.TrimSuffix("none: "+t.Error, ": ")
	}
	text := fmt.Sprintf("%s (%s) by %s within %d ms", t.Outcome, t.Reason, t.Replica, t.Milliseconds)
	if len(t.Added) > 0 {
		text += "; it would be placed on " + strings.Join(t.Added, " and ")
	}
	return text
}

// webhookScopes returns the failure policy, timeout and namespaces of the webhooks. Webhooks with equal
// values are grouped.
func webhookScopes(st *v1alpha1.WebhookStatus) []string {
	names := map[string][]string{}
	var order []string
	for _, w := range st.Webhooks {
		text := fmt.Sprintf("failurePolicy %s, timeout %d s, namespaces: all", w.FailurePolicy, w.TimeoutSecs)
		if len(w.ExcludedNamespaces) > 0 {
			text += " but " + strings.Join(w.ExcludedNamespaces, ", ")
		}
		if names[text] == nil {
			order = append(order, text)
		}
		names[text] = append(names[text], strings.TrimSuffix(w.Name, entries.Suffix))
	}
	for i, text := range order {
		if len(order) > 1 {
			order[i] = strings.Join(names[text], ", ") + ": " + text
		}
	}
	return order
}
