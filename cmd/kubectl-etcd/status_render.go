// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// renderStatus writes a status for people, on as many columns as the canvas has.
func renderStatus(e *env, w *canvas, st *v1alpha1.EtcdClusterStatus, wide bool) error {
	p := page{console: e.console, out: w, now: st.Time.Time}
	p.summary(st)
	if len(st.Members) > 0 {
		fmt.Fprintln(w)
		if err := membersTable(st, w.columns, wide).write(e.console, w, wide); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	p.problems(st)
	p.conditions(st)
	p.section("Spread", noColor, spreadText(st.Spread))
	p.section("Budget", noColor, budgetText(st.Budget))
	p.section("Backups", noColor, backupText(st.Backup, p.now, unseenKind(st.Unseen, "leases.coordination.k8s.io")))
	p.events(st)
	for _, u := range st.Unseen {
		if u.What == unseenMembers {
			continue // among the problems
		}
		p.section("Not seen", yellow, u.What+": "+u.Why)
	}
	for _, c := range st.Next {
		p.verbatim("Next", c)
	}
	return nil
}

// page writes sections, each with its heading before the first line.
type page struct {
	console *console
	out     *canvas
	now     time.Time

	heading string
}

// headings is the width of the column of headings.
const headings = 12

// section writes a text under a heading that is only repeated when it changes,
// in as many lines as it takes.
func (p *page) section(heading string, c color, text string) {
	if text == "" {
		return
	}
	for i, line := range wrap(text, p.out.columns-headings) {
		p.line(heading, p.console.paint(p.out, c, line), i > 0)
	}
}

// verbatim writes a line that is to be copied, and so never broken.
func (p *page) verbatim(heading, text string) { p.line(heading, text, false) }

func (p *page) line(heading, text string, continued bool) {
	if continued || heading == p.heading {
		heading = ""
	} else {
		p.heading = heading
	}
	pad := strings.Repeat(" ", headings-len(heading))
	fmt.Fprintln(p.out, p.console.paint(p.out, bold, heading)+pad+text)
}

var healthColors = map[string]color{
	v1alpha1.Healthy: green, v1alpha1.Degraded: yellow, v1alpha1.Down: red, v1alpha1.Unknown: yellow,
}

func (p *page) summary(st *v1alpha1.EtcdClusterStatus) {
	p.section("Cluster", noColor, clusterText(st.Cluster))
	p.section("Health", healthColors[st.Health], healthText(st))
	p.section("Quorum", noColor, quorumText(st))
	p.section("etcd", noColor, etcdText(st))
	p.section("Traffic", noColor, trafficText(st.Traffic, p.now))
	p.section("Operation", yellow, st.Operation)
	p.section("Operation", yellow, underWayText(st.UnderWay, p.now))
}

func clusterText(c v1alpha1.ClusterIdentity) string {
	text := fmt.Sprintf("%s %s/%s (%s", c.Kind, c.Namespace, c.Name, c.Distribution)
	if c.Controller != "" {
		text += ", of " + c.Controller
	}
	return text + ")"
}

func healthText(st *v1alpha1.EtcdClusterStatus) string {
	if st.Health == v1alpha1.Hibernated {
		return "hibernated: 0 members are asked for"
	}
	if !answered(st) && len(blindTo(st.Unseen, st.Cluster.Distribution)) > 0 {
		return fmt.Sprintf("%s, %d members are asked for", strings.ToLower(st.Health), st.Replicas.Desired)
	}
	return fmt.Sprintf("%s, %d of %d members ready", strings.ToLower(st.Health), st.Replicas.Ready, st.Replicas.Desired)
}

func quorumText(st *v1alpha1.EtcdClusterStatus) string {
	q := st.Quorum
	if q.Voters == 0 {
		return ""
	}
	if !answered(st) && len(blindTo(st.Unseen, st.Cluster.Distribution)) > 0 {
		return fmt.Sprintf("%d of %d voters needed: how many are healthy is not known", q.Needed, q.Voters)
	}
	text := fmt.Sprintf("%d of %d voters healthy, %d needed: ", q.Healthy, q.Voters, q.Needed)
	switch {
	case q.Slack < 0 && st.Leader != "":
		text += "so few answer here, and follow a leader"
	case q.Slack < 0:
		text += "the quorum is lost"
	case q.Slack == 0:
		text += "none more may fail"
	default:
		text += fmt.Sprintf("%d more may fail", q.Slack)
	}
	if !answered(st) {
		text += " (as Kubernetes shows it)"
	}
	return text
}

func etcdText(st *v1alpha1.EtcdClusterStatus) string {
	if st.ClusterID == "" {
		return ""
	}
	return fmt.Sprintf("leader %s, term %d, revision %d, cluster ID %s", cmp.Or(st.Leader, "none"), st.RaftTerm, st.Revision, st.ClusterID)
}

func trafficText(t v1alpha1.Traffic, now time.Time) string {
	switch t.State {
	case v1alpha1.TrafficCut:
		end := ""
		if t.Until != nil && t.Until.Unix() != 0 {
			end = ", until " + t.Until.UTC().Format("2006-01-02 15:04:05 MST")
		}
		return fmt.Sprintf("%s%s (Service %s)", cutText(t, now), end, strings.Join(t.Services, ", "))
	case v1alpha1.TrafficOpen:
		return "open (Service " + strings.Join(t.Services, ", ") + ")"
	case v1alpha1.TrafficUnknown:
		return "not known: you may not list services"
	}
	return "clients have no Service of their own"
}

func (p *page) problems(st *v1alpha1.EtcdClusterStatus) {
	for _, problem := range st.Problems {
		c := yellow
		if problem.Severity == v1alpha1.SeverityError {
			c = red
		}
		p.section("Problems", c, strings.ToLower(problem.Severity)+": "+problem.Message)
	}
}

// conditions shows those that matter always, and the others when they are bad.
func (p *page) conditions(st *v1alpha1.EtcdClusterStatus) {
	for _, c := range st.Conditions {
		always := c.Type == "AllMembersReady" || c.Type == "BackupReady" || c.Type == "Ready"
		if !always && !c.Bad {
			continue
		}
		text := c.Type + " " + c.Status
		if c.Since != nil {
			text += " for " + since(p.now, c.Since.Time)
		}
		if c.Reason != "" && c.Reason != c.Type {
			text += " (" + c.Reason + ")"
		}
		if c.Confirmed != nil && p.now.Sub(c.Confirmed.Time) > policy.EvidenceLimit {
			text += ", last confirmed " + since(p.now, c.Confirmed.Time) + " ago"
		}
		paint := noColor
		if c.Bad {
			paint = yellow
		}
		p.section("Conditions", paint, text)
	}
}

func spreadText(s v1alpha1.SpreadStatus) string {
	if s.Message == "" {
		return ""
	}
	word := "unknown"
	switch s.Kept {
	case string(policy.True):
		word = "kept"
	case string(policy.False):
		word = "broken"
	}
	text := word + ": " + s.Message
	switch {
	case s.Policy != "" && s.Wanted != "":
		text += fmt.Sprintf("; policy %s (%s): %s", s.Policy, s.Mode, s.Wanted)
	case s.Policy != "":
		text += fmt.Sprintf("; policy %s (%s)", s.Policy, s.Mode)
	case s.Wanted != "":
		text += "; " + s.Wanted
	default:
		text += "; no policy applies"
	}
	return text
}

func budgetText(b v1alpha1.BudgetStatus) string {
	if b.Reason == reasonBudgetsUnseen {
		return "not known: you may not list disruption budgets"
	}
	if b.Name == "" && b.Reason != "" {
		return "none protects the members (" + b.Reason + ")"
	}
	if b.Name == "" {
		return ""
	}
	text := fmt.Sprintf("%s, %s: %d may be evicted now", b.Name, b.Value, b.Allowed)
	if b.Reason != "" {
		text += "; " + b.Reason
		if b.Message != "" {
			text += ": " + b.Message
		}
		return text
	}
	if b.Message != "" {
		text += "; " + b.Message
	}
	return text
}

// backupText says when backups were taken, as far as the leases that tell it can be read.
func backupText(b v1alpha1.Backup, now time.Time, unseen bool) string {
	var parts []string
	for _, kind := range []struct {
		name string
		at   *time.Time
	}{{"full", stdTime(b.Full)}, {"delta", stdTime(b.Delta)}, {"last", stdTime(b.Last)}} {
		if kind.at != nil {
			parts = append(parts, kind.name+" "+since(now, *kind.at)+" ago")
		}
	}
	switch {
	case len(parts) == 0 && unseen:
		parts = []string{"when any was taken is not known: you may not list leases"}
	case len(parts) == 0 && b.Status == "":
		return "none is known of"
	case len(parts) == 0:
		parts = []string{"none yet"}
	}
	if b.Status != "" && b.Status != string(policy.True) {
		parts = append(parts, fmt.Sprintf("BackupReady is %s (%s)", b.Status, b.Reason))
	}
	return strings.Join(parts, ", ")
}

func (p *page) events(st *v1alpha1.EtcdClusterStatus) {
	const shown = 3
	for _, e := range st.Events[:min(len(st.Events), shown)] {
		times := ""
		if e.Count > 1 {
			times = fmt.Sprintf(" (%d times)", e.Count)
		}
		p.section("Warnings", noColor, fmt.Sprintf("%s ago %s %s: %s%s", since(p.now, e.Last.Time), e.Object, e.Reason, e.Message, times))
	}
}
