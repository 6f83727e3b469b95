// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// renderWebhook writes a status for people, on as many columns as the canvas has.
func renderWebhook(e *env, w *canvas, st *v1alpha1.WebhookStatus, wide bool) error {
	p := page{console: e.console, out: w, now: st.Time.Time}
	p.webhookSummary(st)
	if len(st.Program.Replicas) > 0 {
		fmt.Fprintln(w)
		if err := replicasTable(st, w.columns, wide).write(e.console, w, wide); err != nil {
			return err
		}
	}
	if len(st.Webhooks) > 0 {
		fmt.Fprintln(w)
		if err := webhooksTable(st, w.columns, wide).write(e.console, w, wide); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	p.webhookFindings(st, wide)
	return nil
}

// webhookFindings is what stands below the tables.
func (p *page) webhookFindings(st *v1alpha1.WebhookStatus, wide bool) {
	for _, problem := range st.Problems {
		c := yellow
		if problem.Severity == v1alpha1.SeverityError {
			c = red
		}
		p.section("Problems", c, strings.ToLower(problem.Severity)+": "+problem.Message)
	}
	for _, policy := range st.Policies {
		p.section("Policies", noColor, fmt.Sprintf("%s (%s): %s, spread broken in %d, unprotected %d",
			policy.Name, policy.Mode, numberOf(int(policy.Matched), "cluster", "clusters"), policy.Broken, policy.Unprotected))
	}
	p.cuts(st)
	if p.out.columns > 0 && p.out.columns < narrow && !wide {
		for _, r := range st.Program.Replicas {
			if r.LastExit != "" {
				p.section("Last exit", noColor, r.Pod+": "+r.LastExit)
			}
		}
	}
	for _, ev := range st.Events {
		times := ""
		if ev.Count > 1 {
			times = fmt.Sprintf(" (%d times)", ev.Count)
		}
		p.section("Warnings", noColor, fmt.Sprintf("%s ago %s %s: %s%s", since(p.now, ev.Last.Time), ev.Object, ev.Reason, ev.Message, times))
	}
	for _, u := range st.Unseen {
		p.section("Not seen", yellow, u.What+": "+u.Why)
	}
}

var webhookHealthWords = map[string]string{
	v1alpha1.Healthy: "it works", v1alpha1.Degraded: "it works, but look at the problems", v1alpha1.Down: "it does not work",
	v1alpha1.Unknown: "not known", v1alpha1.NotInstalled: "not installed",
}

func (p *page) webhookSummary(st *v1alpha1.WebhookStatus) {
	paint := cmp.Or(healthColors[st.Health], red)
	p.section("Health", paint, webhookHealthWords[st.Health])
	g := st.Program
	if g.Deployment != "" {
		p.section("Program", noColor, fmt.Sprintf("Deployment %s/%s, %d of %d replicas ready, leader %s", g.Namespace, g.Deployment, g.Ready, g.Desired, cmp.Or(g.Leader, "none")))
	}
	p.section("Version", noColor, versionsText(st))
	if t := st.Admission; t.Asked != "" {
		p.section("Asked", noColor, "a dry run: "+t.Asked)
		p.section("Answer", trialColor(t), trialText(t))
	}
	if c := firstExpiry(g.Replicas); c != nil {
		j := webhookJudge{st: st}
		p.section("Certificate", noColor, fmt.Sprintf("for %s, by %s, %s (%s)", strings.Join(c.Names, ", "), c.Issuer,
			j.endOf(c), c.NotAfter.UTC().Format("2006-01-02 15:04 MST")))
	}
	for _, scope := range scopes(st) {
		p.section("Scope", noColor, scope)
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

func trialColor(t v1alpha1.AdmissionTrial) color {
	if !t.Answered || passedBy(t) {
		return red
	}
	return green
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
		names[text] = append(names[text], strings.TrimSuffix(w.Name, webhookSuffix))
	}
	for i, text := range order {
		if len(order) > 1 {
			order[i] = strings.Join(names[text], ", ") + ": " + text
		}
	}
	return order
}

func (p *page) cuts(st *v1alpha1.WebhookStatus) {
	for _, c := range st.Cuts {
		until := "without an end that can be read"
		if c.Until != nil {
			until = "until " + c.Until.UTC().Format("2006-01-02 15:04:05 MST")
		}
		p.section("Cuts", yellow, fmt.Sprintf("Service %s/%s, %s", c.Namespace, c.Service, until))
	}
}

func replicasTable(st *v1alpha1.WebhookStatus, columns int, wide bool) *table {
	t := &table{columns: []column{
		{name: "REPLICA", shrink: 12}, {name: "ROLE"}, {name: "READY"}, {name: "ZONE", shrink: 4}, {name: "NODE", shrink: 6},
		{name: "CERT"}, {name: "TRUSTED"}, {name: "RESTARTS", right: true}, {name: "LAST EXIT", shrink: 9},
	}}
	var names, zones, nodes []string
	for _, r := range st.Program.Replicas {
		names, zones, nodes = append(names, r.Pod), append(zones, r.Zone), append(nodes, r.Node)
	}
	if columns > 0 && columns < narrow && !wide {
		// How it ended last is told below, in full.
		t.gap, t.columns[8].wide = "  ", true
		names, zones, nodes = endings(names, 20), endings(zones, 8), endings(nodes, 12)
	}
	for i, r := range st.Program.Replicas {
		role, ready := "", cell{"no", red}
		if r.Leader {
			role = "leader"
		}
		if r.Ready {
			ready = cell{"yes", green}
		}
		certificate, trusted := cell{}, cell{}
		if c := r.Certificate; c != nil {
			certificate.text = since(c.NotAfter.Time, st.Time.Time)
			trusted = cell{"yes", green}
			if len(c.Distrusted) > 0 {
				trusted = cell{"no", red}
			}
		}
		t.rows = append(t.rows, []cell{
			{text: names[i]}, {text: role}, ready, {text: zones[i]}, {text: nodes[i]}, certificate, trusted, {text: strconv.Itoa(int(r.Restarts))}, {text: r.LastExit},
		})
	}
	return t
}

func webhooksTable(st *v1alpha1.WebhookStatus, columns int, wide bool) *table {
	t := &table{columns: []column{
		{name: "WEBHOOK", shrink: 12}, {name: "CALLED FOR", shrink: 10}, {name: "CALLS", right: true}, {name: "ERRORS", right: true},
		{name: "FAILED OPEN", right: true}, {name: "MEAN", right: true}, {name: "AUTHORITY"}, {name: "CONFIGURATION", wide: true},
		{name: "OBJECTS", wide: true}, {name: "CONDITIONS", wide: true},
	}}
	if columns > 0 && columns < narrow && !wide {
		t.gap = "  "
	}
	for i := range st.Webhooks {
		w := &st.Webhooks[i]
		row := []cell{{text: strings.TrimSuffix(w.Name, webhookSuffix)}, {text: strings.Join(w.Resources, " ")}, {}, {}, {}, {}, {}, {text: w.Configuration},
			{text: w.ObjectSelector}, {text: strings.Join(w.MatchConditions, " ")}}
		if c := w.Calls; c != nil {
			row[2].text, row[3].text, row[4].text = number(c.Total), number(c.Errors), number(c.FailedOpen)
			if c.MeanMilliseconds > 0 {
				row[5].text = fmt.Sprintf("%.1fms", c.MeanMilliseconds)
			}
		}
		if w.AuthorityExpiry != nil {
			row[6].text = since(w.AuthorityExpiry.Time, st.Time.Time)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
