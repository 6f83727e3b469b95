// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// statusTable returns a table with one row for each member. On a narrow terminal, it shortens the
// names of members, zones and nodes.
func statusTable(st *v1alpha1.EtcdClusterStatus, columns int, wide bool) *ui.Table {
	tight := columns > 0 && columns < ui.Narrow && !wide
	t := &ui.Table{Columns: []ui.Column{
		{Name: "MEMBER", Shrink: 12}, {Name: "ROLE"}, {Name: "VERSION"}, {Name: "DB", Right: true},
		{Name: "USED", Right: true}, {Name: "LAG", Right: true}, {Name: "ZONE", Shrink: 4}, {Name: "NODE", Shrink: 6}, {Name: "CERT"},
		{Name: "STATE", Shrink: 9}, {Name: "ID", Wide: true}, {Name: "IN USE", Wide: true, Right: true},
		{Name: "QUOTA", Wide: true, Right: true}, {Name: "RESTARTS", Wide: true, Right: true},
	}}
	if tight {
		t.Gap = "  "
	}
	names, zones, nodes := shortNames(st, tight)
	for i := range st.Members {
		m := &st.Members[i]
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: names[i]}, roleCell(m), {Text: m.Version}, {Text: policy.ShortBytes(m.DBSize)},
			usedCell(m), lagCell(m), {Text: zones[i]}, {Text: nodes[i]}, certificateCell(st, m),
			stateCell(m), {Text: m.ID}, {Text: policy.ShortBytes(m.DBSizeInUse)}, {Text: policy.ShortBytes(m.Quota)}, restartsCell(m),
		})
	}
	return t
}

func roleCell(m *v1alpha1.MemberStatus) ui.Cell {
	c := ui.Cell{Text: strings.ToLower(m.Role)}
	if m.Role == v1alpha1.RoleLeader {
		c.Color = ui.Bold
	}
	return c
}

// usedCell returns the used part of the quota. It is empty if the quota is unknown.
func usedCell(m *v1alpha1.MemberStatus) ui.Cell {
	if m.Quota == 0 || m.DBSize == 0 {
		return ui.Cell{}
	}
	used := health.Percent(m.DBSize, m.Quota)
	c := ui.Cell{Text: fmt.Sprintf("%d%%", used)}
	if used >= health.QuotaWarn {
		c.Color = ui.Yellow
	}
	return c
}

func lagCell(m *v1alpha1.MemberStatus) ui.Cell {
	if m.Lag == nil {
		return ui.Cell{}
	}
	c := ui.Cell{Text: strconv.FormatUint(*m.Lag, 10)}
	if *m.Lag > health.LagWarn {
		c.Color = ui.Yellow
	}
	return c
}

func certificateCell(st *v1alpha1.EtcdClusterStatus, m *v1alpha1.MemberStatus) ui.Cell {
	if m.CertificateExpiry == nil {
		return ui.Cell{}
	}
	left := m.CertificateExpiry.Sub(st.Time.Time)
	warned := slices.ContainsFunc(st.Problems, func(p v1alpha1.Problem) bool { return p.Reason == reasons.CertificateExpires.Name() })
	switch {
	case left <= 0:
		return ui.Cell{Text: "expired", Color: ui.Red}
	case warned && left < health.CertificateWarn:
		return ui.Cell{Text: format.Since(m.CertificateExpiry.Time, st.Time.Time), Color: ui.Yellow}
	}
	return ui.Cell{Text: format.Since(m.CertificateExpiry.Time, st.Time.Time)}
}

func stateCell(m *v1alpha1.MemberStatus) ui.Cell {
	if m.State == v1alpha1.StateOK {
		return ui.Cell{Text: "ok", Color: ui.Green}
	}
	return ui.Cell{Text: m.State, Color: ui.Red}
}

func restartsCell(m *v1alpha1.MemberStatus) ui.Cell {
	if m.State == view.StateNoPod {
		return ui.Cell{}
	}
	return ui.Cell{Text: strconv.Itoa(int(m.Restarts))}
}

// shortNames returns the names of the members, their zones and their nodes. If tight, it removes
// the domain of nodes and the common prefix of long names.
func shortNames(st *v1alpha1.EtcdClusterStatus, tight bool) (names, zones, nodes []string) {
	for i := range st.Members {
		m := &st.Members[i]
		names = append(names, cmp.Or(m.Pod, m.Name, m.ID))
		zones = append(zones, m.Zone)
		nodes = append(nodes, m.Node)
	}
	if !tight {
		return names, zones, nodes
	}
	for i := range nodes {
		nodes[i], _, _ = strings.Cut(nodes[i], ".")
	}
	return ui.TrimSharedPrefix(names, 16), ui.TrimSharedPrefix(zones, 6), ui.TrimSharedPrefix(nodes, 8)
}
