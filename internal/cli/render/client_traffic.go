// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// ClientTraffic returns the text of the effect of a cut: the open streams and the requests of each
// member.
func ClientTraffic(c *ui.Console, out *v1alpha1.ClientTrafficReport) Text {
	return func(w io.Writer, wide bool) error {
		if len(out.Members) == 0 {
			return nil
		}
		return streamTable(out).Write(c, w, wide)
	}
}

// streamTable returns a table with a row for each method.
func streamTable(out *v1alpha1.ClientTrafficReport) *ui.Table {
	table := &ui.Table{Columns: []ui.Column{{Name: "MEMBER"}, {Name: "METHOD", Shrink: 20}, {Name: "OPEN STREAMS"}, {Name: "REQUESTS"}}}
	for _, m := range out.Members {
		switch {
		case m.Error != "":
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {}, {Text: "not known: " + m.Error, Color: ui.Yellow}, {Text: "not known", Color: ui.Yellow}})
		case len(m.Streams)+len(m.Requests) == 0:
			table.Rows = append(table.Rows, ui.Plain(m.Pod, "", "0", "0"))
		}
		for _, s := range m.Streams {
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {Text: s.Method}, {Text: "at least " + strconv.Itoa(s.AtLeast), Color: ui.Yellow}, {}})
		}
		for _, r := range m.Requests {
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {Text: r.Method}, {}, {Text: rate(r), Color: ui.Yellow}})
		}
	}
	return table
}

// rate returns how often requests came.
func rate(r v1alpha1.UnaryRequests) string {
	if perSecond := r.AtLeast / max(r.Seconds, 1); perSecond > 0 {
		return fmt.Sprintf("at least %d per second", perSecond)
	}
	return fmt.Sprintf("at least %d in %ds", r.AtLeast, r.Seconds)
}

// cutText returns a cut with its end, "cut 14m more", or with the time since its end if no one
// has restored the traffic.
func cutText(t v1alpha1.Traffic, now time.Time) string {
	switch {
	case t.Until == nil:
		return "cut"
	case t.Until.After(now):
		return "cut " + format.Since(t.Until.Time, now) + " more"
	case t.Until.Unix() == 0:
		return "cut, to be restored"
	}
	return "cut, overdue " + format.Since(now, t.Until.Time)
}
