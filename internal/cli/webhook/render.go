// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// render writes a status for people, on as many columns as the canvas has.
func render(a *app.App, w *ui.Screen, st *v1alpha1.WebhookStatus, wide bool) error {
	p := ui.Page{Console: a.Console, Out: w, Now: st.Time.Time}
	summary(&p, st)
	if len(st.Program.Replicas) > 0 {
		fmt.Fprintln(w)
		if err := replicasTable(st, w.Columns, wide).Write(a.Console, w, wide); err != nil {
			return err
		}
	}
	if len(st.Webhooks) > 0 {
		fmt.Fprintln(w)
		if err := webhooksTable(st, w.Columns, wide).Write(a.Console, w, wide); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	findings(&p, st, wide)
	return nil
}

// findings is what stands below the tables.
func findings(p *ui.Page, st *v1alpha1.WebhookStatus, wide bool) {
	for _, problem := range st.Problems {
		c := ui.Yellow
		if problem.Severity == v1alpha1.SeverityError {
			c = ui.Red
		}
		p.Section("Problems", c, strings.ToLower(problem.Severity)+": "+problem.Message)
	}
	for _, policy := range st.Policies {
		p.Section("Policies", ui.NoColor, fmt.Sprintf("%s (%s): %s, spread broken in %d, unprotected %d",
			policy.Name, policy.Mode, ui.NumberOf(int(policy.Matched), "cluster", "clusters"), policy.Broken, policy.Unprotected))
	}
	cuts(p, st)
	if p.Out.Columns > 0 && p.Out.Columns < ui.Narrow && !wide {
		for _, r := range st.Program.Replicas {
			if r.LastExit != "" {
				p.Section("Last exit", ui.NoColor, r.Pod+": "+r.LastExit)
			}
		}
	}
	for _, ev := range st.Events {
		times := ""
		if ev.Count > 1 {
			times = fmt.Sprintf(" (%d times)", ev.Count)
		}
		p.Section("Warnings", ui.NoColor, fmt.Sprintf("%s ago %s %s: %s%s", format.Since(p.Now, ev.Last.Time), ev.Object, ev.Reason, ev.Message, times))
	}
	for _, u := range st.Unseen {
		p.Section("Not seen", ui.Yellow, u.What+": "+u.Why)
	}
}

var healthText = map[string]string{
	v1alpha1.Healthy: "it works", v1alpha1.Degraded: "it works, but look at the problems", v1alpha1.Down: "it does not work",
	v1alpha1.Unknown: "not known", v1alpha1.NotInstalled: "not installed",
}

func summary(p *ui.Page, st *v1alpha1.WebhookStatus) {
	paint := cmp.Or(ui.HealthColors[st.Health], ui.Red)
	p.Section("Health", paint, healthText[st.Health])
	g := st.Program
	if g.Deployment != "" {
		p.Section("Program", ui.NoColor, fmt.Sprintf("Deployment %s/%s, %d of %d replicas ready, leader %s", g.Namespace, g.Deployment, g.Ready, g.Desired, cmp.Or(g.Leader, "none")))
	}
	p.Section("Version", ui.NoColor, versionsText(st))
	if t := st.Admission; t.Asked != "" {
		p.Section("Asked", ui.NoColor, "a dry run: "+t.Asked)
		p.Section("Answer", trialColor(t), trialText(t))
	}
	if c := install.FirstExpiry(g.Replicas); c != nil {
		j := install.WebhookJudge{St: st}
		p.Section("Certificate", ui.NoColor, fmt.Sprintf("for %s, by %s, %s (%s)", strings.Join(c.Names, ", "), c.Issuer,
			j.EndOf(c), c.NotAfter.UTC().Format("2006-01-02 15:04 MST")))
	}
	for _, scope := range scopes(st) {
		p.Section("Scope", ui.NoColor, scope)
	}
}

func versionsText(st *v1alpha1.WebhookStatus) string {
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
		text += "; it would go to " + strings.Join(t.Added, " and ")
	}
	return text
}

// scopes are what the webhooks leave out and how they fail, each said once.
func scopes(st *v1alpha1.WebhookStatus) []string {
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

func cuts(p *ui.Page, st *v1alpha1.WebhookStatus) {
	for _, c := range st.Cuts {
		until := "without an end that can be read"
		if c.Until != nil {
			until = "until " + c.Until.UTC().Format("2006-01-02 15:04:05 MST")
		}
		p.Section("Cuts", ui.Yellow, fmt.Sprintf("Service %s/%s, %s", c.Namespace, c.Service, until))
	}
}

func replicasTable(st *v1alpha1.WebhookStatus, columns int, wide bool) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "REPLICA", Shrink: 12}, {Name: "ROLE"}, {Name: "READY"}, {Name: "ZONE", Shrink: 4}, {Name: "NODE", Shrink: 6},
		{Name: "CERT"}, {Name: "TRUSTED"}, {Name: "RESTARTS", Right: true}, {Name: "LAST EXIT", Shrink: 9},
	}}
	var names, zones, nodes []string
	for _, r := range st.Program.Replicas {
		names, zones, nodes = append(names, r.Pod), append(zones, r.Zone), append(nodes, r.Node)
	}
	if columns > 0 && columns < ui.Narrow && !wide {
		// How it ended last is told below, in full.
		t.Gap, t.Columns[8].Wide = "  ", true
		names, zones, nodes = ui.TrimSharedPrefix(names, 20), ui.TrimSharedPrefix(zones, 8), ui.TrimSharedPrefix(nodes, 12)
	}
	for i, r := range st.Program.Replicas {
		role, ready := "", ui.Cell{Text: "no", Color: ui.Red}
		if r.Leader {
			role = "leader"
		}
		if r.Ready {
			ready = ui.Cell{Text: "yes", Color: ui.Green}
		}
		certificate, trusted := ui.Cell{}, ui.Cell{}
		if c := r.Certificate; c != nil {
			certificate.Text = format.Since(c.NotAfter.Time, st.Time.Time)
			trusted = ui.Cell{Text: "yes", Color: ui.Green}
			if len(c.Distrusted) > 0 {
				trusted = ui.Cell{Text: "no", Color: ui.Red}
			}
		}
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: names[i]}, {Text: role}, ready, {Text: zones[i]}, {Text: nodes[i]}, certificate, trusted, {Text: strconv.Itoa(int(r.Restarts))}, {Text: r.LastExit},
		})
	}
	return t
}

func webhooksTable(st *v1alpha1.WebhookStatus, columns int, wide bool) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "WEBHOOK", Shrink: 12}, {Name: "CALLED FOR", Shrink: 10}, {Name: "CALLS", Right: true}, {Name: "ERRORS", Right: true},
		{Name: "FAILED OPEN", Right: true}, {Name: "MEAN", Right: true}, {Name: "AUTHORITY"}, {Name: "CONFIGURATION", Wide: true},
		{Name: "OBJECTS", Wide: true}, {Name: "CONDITIONS", Wide: true},
	}}
	if columns > 0 && columns < ui.Narrow && !wide {
		t.Gap = "  "
	}
	for i := range st.Webhooks {
		w := &st.Webhooks[i]
		row := []ui.Cell{{Text: strings.TrimSuffix(w.Name, entries.Suffix)}, {Text: strings.Join(w.Resources, " ")}, {}, {}, {}, {}, {}, {Text: w.Configuration},
			{Text: w.ObjectSelector}, {Text: strings.Join(w.MatchConditions, " ")}}
		if c := w.Calls; c != nil {
			row[2].Text, row[3].Text, row[4].Text = number(c.Total), number(c.Errors), number(c.FailedOpen)
			if c.MeanMilliseconds > 0 {
				row[5].Text = fmt.Sprintf("%.1fms", c.MeanMilliseconds)
			}
		}
		if w.AuthorityExpiry != nil {
			row[6].Text = format.Since(w.AuthorityExpiry.Time, st.Time.Time)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
