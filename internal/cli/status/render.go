// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// render writes a status for people, on as many columns as the canvas has.
func render(a *app.App, w *ui.Screen, st *v1alpha1.EtcdClusterStatus, wide bool) error {
	p := ui.Page{Console: a.Console, Out: w, Now: st.Time.Time}
	summary(&p, st)
	if len(st.Members) > 0 {
		fmt.Fprintln(w)
		if err := membersTable(st, w.Columns, wide).Write(a.Console, w, wide); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	problems(&p, st)
	conditions(&p, st)
	p.Section("Spread", ui.NoColor, spreadText(st.Spread))
	p.Section("Budget", ui.NoColor, budgetText(st.Budget))
	p.Section("Backups", ui.NoColor, backupText(st.Backup, p.Now, health.UnseenKind(st.Unseen, "leases.coordination.k8s.io")))
	events(&p, st)
	for _, u := range st.Unseen {
		if u.What == health.UnseenMembers {
			continue // among the problems
		}
		p.Section("Not seen", ui.Yellow, u.What+": "+u.Why)
	}
	for _, c := range st.Next {
		p.Verbatim("Next", c)
	}
	return nil
}

func summary(p *ui.Page, st *v1alpha1.EtcdClusterStatus) {
	p.Section("Cluster", ui.NoColor, clusterText(st.Cluster))
	p.Section("Health", ui.HealthColors[st.Health], healthText(st))
	p.Section("Quorum", ui.NoColor, quorumText(st))
	p.Section("etcd", ui.NoColor, etcdText(st))
	p.Section("Traffic", ui.NoColor, trafficText(st.Traffic, p.Now))
	p.Section("Operation", ui.Yellow, st.Operation)
	p.Section("Operation", ui.Yellow, health.UnderWayText(st.UnderWay, p.Now))
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
	if !health.Answered(st) && len(health.BlindTo(st.Unseen, st.Cluster.Distribution)) > 0 {
		return fmt.Sprintf("%s, %d members are asked for", strings.ToLower(st.Health), st.Replicas.Desired)
	}
	return fmt.Sprintf("%s, %d of %d members ready", strings.ToLower(st.Health), st.Replicas.Ready, st.Replicas.Desired)
}

func quorumText(st *v1alpha1.EtcdClusterStatus) string {
	q := st.Quorum
	if q.Voters == 0 {
		return ""
	}
	if !health.Answered(st) && len(health.BlindTo(st.Unseen, st.Cluster.Distribution)) > 0 {
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
	if !health.Answered(st) {
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
		return fmt.Sprintf("%s%s (Service %s)", format.CutText(t, now), end, strings.Join(t.Services, ", "))
	case v1alpha1.TrafficOpen:
		return "open (Service " + strings.Join(t.Services, ", ") + ")"
	case v1alpha1.TrafficUnknown:
		return "not known: you may not list services"
	}
	return "clients have no Service of their own"
}

func problems(p *ui.Page, st *v1alpha1.EtcdClusterStatus) {
	for _, problem := range st.Problems {
		c := ui.Yellow
		if problem.Severity == v1alpha1.SeverityError {
			c = ui.Red
		}
		p.Section("Problems", c, strings.ToLower(problem.Severity)+": "+problem.Message)
	}
}

// conditions shows those that matter always, and the others when they are bad.
func conditions(p *ui.Page, st *v1alpha1.EtcdClusterStatus) {
	for _, c := range st.Conditions {
		always := c.Type == "AllMembersReady" || c.Type == "BackupReady" || c.Type == "Ready"
		if !always && !c.Bad {
			continue
		}
		text := c.Type + " " + c.Status
		if c.Since != nil {
			text += " for " + format.Since(p.Now, c.Since.Time)
		}
		if c.Reason != "" && c.Reason != c.Type {
			text += " (" + c.Reason + ")"
		}
		if c.Confirmed != nil && p.Now.Sub(c.Confirmed.Time) > policy.EvidenceLimit {
			text += ", last confirmed " + format.Since(p.Now, c.Confirmed.Time) + " ago"
		}
		paint := ui.NoColor
		if c.Bad {
			paint = ui.Yellow
		}
		p.Section("Conditions", paint, text)
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
	if b.Reason == health.ReasonBudgetsUnseen {
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
			parts = append(parts, kind.name+" "+format.Since(now, *kind.at)+" ago")
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

func events(p *ui.Page, st *v1alpha1.EtcdClusterStatus) {
	const shown = 3
	for _, e := range st.Events[:min(len(st.Events), shown)] {
		times := ""
		if e.Count > 1 {
			times = fmt.Sprintf(" (%d times)", e.Count)
		}
		p.Section("Warnings", ui.NoColor, fmt.Sprintf("%s ago %s %s: %s%s", format.Since(p.Now, e.Last.Time), e.Object, e.Reason, e.Message, times))
	}
}
