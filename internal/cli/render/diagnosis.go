// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// Diagnosis returns the text of a diagnosis, in the width of the terminal: the state, what to do next,
// and then why.
func Diagnosis(c *ui.Console, d *v1alpha1.EtcdDiagnosis) Text {
	return onScreen(c, func(w *ui.Screen, wide bool) error {
		p := ui.Page{Console: c, Out: w, Now: d.Time.Time}
		p.Section("Cluster", ui.NoColor, fmt.Sprintf("%s in namespace %s (%s)", d.Cluster.Target, d.Cluster.Namespace, d.Cluster.Distribution))
		color := ui.Red
		if d.Healthy {
			color = ui.Green
		}
		p.Section("State", color, d.Summary)
		nextAction(&p, d.Next)
		for _, u := range d.Unread {
			p.Section("Unread", ui.Yellow, u)
		}
		for i := range d.Scenarios {
			fmt.Fprintln(w)
			scenario(&p, &d.Scenarios[i], i > 0)
		}
		if len(d.Restarts) > 0 && (wide || !d.Healthy) {
			fmt.Fprintln(w)
			for _, r := range d.Restarts {
				p.Section("Restarts", ui.NoColor, fmt.Sprintf("%s (%s): %s", r.Member, r.ID, r.What))
			}
		}
		return nil
	})
}

// nextAction is the one thing to do now.
func nextAction(p *ui.Page, a v1alpha1.DiagnosisAction) {
	if a.Do == string(recovery.Nothing) {
		return
	}
	why := a.Why
	if a.Member != "" {
		why = a.Member + ": " + why
	}
	if a.Do == string(recovery.Wait) {
		why = "wait" + until(p.Now, a.Until) + ", then diagnose again. " + why
	}
	p.Section("Next", ui.Bold, why)
	p.Verbatim("Next", a.Command)
}

// until returns a point of time for people, empty for none.
func until(now time.Time, t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return " until " + at(now, t)
}

func at(now time.Time, t *metav1.Time) string {
	if !t.After(now) {
		return format.Time(t.Time) + ", which has passed"
	}
	return fmt.Sprintf("%s (in %s)", format.Time(t.Time), format.Since(t.Time, now))
}

// scenario writes a row that holds: its evidence beside what the row asks for, what runs and what
// happens by itself. Beside the first, each also has its action.
func scenario(p *ui.Page, s *v1alpha1.DiagnosisScenario, withAction bool) {
	p.Section(s.ID, ui.Bold, s.Reason+": "+s.Title)
	for _, e := range s.Evidence {
		line, color := e.Fact+": "+e.Observed, ui.NoColor
		if e.Asked != "" && e.Asked != "any" {
			line += fmt.Sprintf("; row %s asks for: %s", s.ID, e.Asked)
			if !e.Met {
				line, color = line+" (differs)", ui.Yellow
			}
		}
		p.Section("  observed", color, line)
	}
	if s.Until != nil {
		p.Section("  grace", ui.NoColor, s.GracePeriod+" runs until "+at(p.Now, s.Until))
	}
	for _, e := range s.ByItself {
		line := e.Who + " " + e.What
		if e.At != nil {
			line += " at " + at(p.Now, e.At)
		}
		p.Section("  by itself", ui.NoColor, line)
	}
	if withAction && s.Action.Command != "" {
		p.Section("  then", ui.NoColor, s.Action.Why)
		p.Verbatim("  then", s.Action.Command)
	}
}
