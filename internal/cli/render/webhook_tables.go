// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

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
		// The last exit has its own section instead.
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
