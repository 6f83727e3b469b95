// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// eventsShown is the largest number of Events that a status prints.
const eventsShown = 3

// Status returns the text of a cluster's status, in the width of the terminal.
func Status(c *ui.Console, st *v1alpha1.EtcdClusterStatus) Text {
	return onScreen(c, func(w *ui.Screen, wide bool) error {
		p := ui.Page{Console: c, Out: w, Now: st.Time.Time}
		statusSummary(&p, st)
		if len(st.Members) > 0 {
			fmt.Fprintln(w)
			if err := statusTable(st, w.Columns, wide).Write(c, w, wide); err != nil {
				return err
			}
		}
		fmt.Fprintln(w)
		statusSections(&p, st)
		return nil
	})
}

// statusSections writes the sections below the table.
func statusSections(p *ui.Page, st *v1alpha1.EtcdClusterStatus) {
	p.Problems(st.Problems)
	statusConditions(p, st)
	p.Section("Spread", ui.NoColor, spreadText(st.Spread))
	p.Section("Budget", ui.NoColor, budgetText(st.Budget))
	p.Section("Backups", ui.NoColor, backupText(st.Backup, p.Now, view.Missing(st.Unseen, "leases.coordination.k8s.io")))
	p.Warnings(st.Events[:min(len(st.Events), eventsShown)])
	for _, u := range st.Unseen {
		if u.What == view.UnseenMembers {
			continue // it is one of the problems
		}
		p.Section("No access", ui.Yellow, u.What+": "+u.Why)
	}
	for _, next := range st.Next {
		p.Verbatim("Next", next)
	}
}

// statusConditions shows the most important conditions, and others if they are bad.
func statusConditions(p *ui.Page, st *v1alpha1.EtcdClusterStatus) {
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
