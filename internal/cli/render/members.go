// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// Members returns the text of a member list.
func Members(c *ui.Console, l *v1alpha1.EtcdMemberList) Text {
	return func(w io.Writer, wide bool) error {
		if err := membersTable(l).Write(c, w, wide); err != nil {
			return err
		}
		for _, d := range l.Disagreements {
			c.Warn("%s differs: %s.", d.Pod, d.Message)
		}
		for _, u := range l.Unseen {
			c.Warn("%s: %s.", u.What, u.Why)
		}
		return nil
	}
}

// membersTable returns a table with one row for each member. It has notes if a member has one.
func membersTable(l *v1alpha1.EtcdMemberList) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "MEMBER", Shrink: 11}, {Name: "ID"}, {Name: "NAME", Shrink: 8}, {Name: "ROLE"}, {Name: "STARTED"},
		{Name: "PEER URLS", Shrink: 9}, {Name: "CLIENT URLS", Wide: true}, {Name: "NOTE", Shrink: 10},
	}}
	noted := false
	for i := range l.Items {
		m := &l.Items[i]
		paint := ui.NoColor
		if m.Note != "" {
			paint, noted = ui.Yellow, true
		}
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: m.Pod}, {Text: m.ID}, {Text: m.Name}, {Text: strings.ToLower(m.Role)}, {Text: startedText(m)},
			{Text: strings.Join(m.PeerURLs, ",")}, {Text: strings.Join(m.ClientURLs, ",")}, {Text: m.Note, Color: paint},
		})
	}
	if !noted {
		t.Columns = t.Columns[:len(t.Columns)-1]
	}
	return t
}

func startedText(m *v1alpha1.EtcdMember) string {
	if m.ID == "" {
		return ""
	}
	return strconv.FormatBool(m.Started)
}
