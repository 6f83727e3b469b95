// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Webhook returns the text of the state of etcd-webhook, in the width of the terminal.
func Webhook(c *ui.Console, st *v1alpha1.WebhookStatus) Text {
	return onScreen(c, func(w *ui.Screen, wide bool) error {
		p := ui.Page{Console: c, Out: w, Now: st.Time.Time}
		webhookSummary(&p, st)
		if len(st.Program.Replicas) > 0 {
			fmt.Fprintln(w)
			if err := replicasTable(st, w.Columns, wide).Write(c, w, wide); err != nil {
				return err
			}
		}
		if len(st.Webhooks) > 0 {
			fmt.Fprintln(w)
			if err := webhooksTable(st, w.Columns, wide).Write(c, w, wide); err != nil {
				return err
			}
		}
		fmt.Fprintln(w)
		webhookSections(&p, st, wide)
		return nil
	})
}

// webhookSections writes the sections below the tables.
func webhookSections(p *ui.Page, st *v1alpha1.WebhookStatus, wide bool) {
	p.Problems(st.Problems)
	for _, governs := range st.Policies {
		p.Section("Policies", ui.NoColor, fmt.Sprintf("%s (%s): %s, spread broken in %d, unprotected %d",
			governs.Name, governs.Mode, policy.Count(int(governs.Matched), "cluster"), governs.Broken, governs.Unprotected))
	}
	webhookCuts(p, st)
	if p.Out.Columns > 0 && p.Out.Columns < ui.Narrow && !wide {
		for _, r := range st.Program.Replicas {
			if r.LastExit != "" {
				p.Section("Last exit", ui.NoColor, r.Pod+": "+r.LastExit)
			}
		}
	}
	p.Warnings(st.Events)
	for _, u := range st.Unseen {
		p.Section("No access", ui.Yellow, u.What+": "+u.Why)
	}
}

func webhookCuts(p *ui.Page, st *v1alpha1.WebhookStatus) {
	for _, c := range st.Cuts {
		until := "without a valid end time"
		if c.Until != nil {
			until = "until " + format.Time(c.Until.Time)
		}
		p.Section("Cuts", ui.Yellow, fmt.Sprintf("Service %s/%s, %s", c.Namespace, c.Service, until))
	}
}
