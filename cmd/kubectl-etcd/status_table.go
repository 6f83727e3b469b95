// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// narrow is the width below which the table is closer and says less.
const narrow = 110

// membersTable is the members, one a row. On a narrow terminal names of nodes
// and zones lose what all of them share.
func membersTable(st *v1alpha1.EtcdClusterStatus, columns int, wide bool) *table {
	tight := columns > 0 && columns < narrow && !wide
	t := &table{columns: []column{
		{name: "MEMBER", shrink: 12}, {name: "ROLE"}, {name: "VERSION"}, {name: "DB", right: true},
		{name: "USED", right: true}, {name: "LAG", right: true}, {name: "ZONE", shrink: 4}, {name: "NODE", shrink: 6}, {name: "CERT"},
		{name: "STATE", shrink: 9}, {name: "ID", wide: true}, {name: "IN USE", wide: true, right: true},
		{name: "QUOTA", wide: true, right: true}, {name: "RESTARTS", wide: true, right: true},
	}}
	if tight {
		t.gap = "  "
	}
	names, zones, nodes := shortNames(st, tight)
	for i := range st.Members {
		m := &st.Members[i]
		t.rows = append(t.rows, []cell{
			{text: names[i]}, roleCell(m), {text: m.Version}, {text: bytesText(m.DBSize)},
			usedCell(m), lagCell(m), {text: zones[i]}, {text: nodes[i]}, certificateCell(m, st.Time.Time),
			stateCell(m), {text: m.ID}, {text: bytesText(m.DBSizeInUse)}, {text: bytesText(m.Quota)}, restartsCell(m),
		})
	}
	return t
}

func roleCell(m *v1alpha1.MemberStatus) cell {
	c := cell{text: strings.ToLower(m.Role)}
	if m.Role == v1alpha1.RoleLeader {
		c.color = bold
	}
	return c
}

// usedCell is how much of the quota the file has taken. A member whose quota
// isn't known shows nothing.
func usedCell(m *v1alpha1.MemberStatus) cell {
	if m.Quota == 0 || m.DBSize == 0 {
		return cell{}
	}
	c := cell{text: percent(m.DBSize, m.Quota)}
	if float64(m.DBSize) > quotaNear*float64(m.Quota) {
		c.color = yellow
	}
	return c
}

func lagCell(m *v1alpha1.MemberStatus) cell {
	if m.Lag == nil {
		return cell{}
	}
	c := cell{text: strconv.FormatUint(*m.Lag, 10)}
	if *m.Lag > laggingFrom {
		c.color = yellow
	}
	return c
}

func certificateCell(m *v1alpha1.MemberStatus, now time.Time) cell {
	if m.CertificateExpiry == nil {
		return cell{}
	}
	left := m.CertificateExpiry.Sub(now)
	switch {
	case left <= 0:
		return cell{"expired", red}
	case left < certificateNear:
		return cell{since(m.CertificateExpiry.Time, now), yellow}
	}
	return cell{text: since(m.CertificateExpiry.Time, now)}
}

func stateCell(m *v1alpha1.MemberStatus) cell {
	if m.State == v1alpha1.StateOK {
		return cell{"ok", green}
	}
	return cell{m.State, red}
}

func restartsCell(m *v1alpha1.MemberStatus) cell {
	if m.State == stateNoPod {
		return cell{}
	}
	return cell{text: strconv.Itoa(int(m.Restarts))}
}

// bytesText is a size in at most four characters, powers of 1024.
func bytesText(n int64) string {
	if n <= 0 {
		return ""
	}
	value, unit := float64(n), 0
	for value >= 1000 && unit < 5 {
		value /= 1024
		unit++
	}
	if unit == 0 || value >= 9.95 {
		return fmt.Sprintf("%.0f%c", value, "BKMGTP"[unit])
	}
	return fmt.Sprintf("%.1f%c", value, "BKMGTP"[unit])
}

// shortNames are the members' own, their zones' and their nodes' names. Where
// space is short, a node's domain goes, and of long names what they begin with
// alike: the end tells them apart.
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
	return endings(names, 16), endings(zones, 6), endings(nodes, 8)
}

// endings cuts names that are longer than so many characters at the front, as far
// as they begin alike.
func endings(names []string, most int) []string {
	shared := sharedPrefix(names)
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		if cut := min(len(shared), len(n)-most+1); len(n) > most && cut > 1 {
			out[i] = "…" + n[cut:]
		}
	}
	return out
}

// sharedPrefix is what all texts that aren't empty begin with.
func sharedPrefix(texts []string) string {
	texts = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" })
	if len(texts) < 2 {
		return ""
	}
	shared := texts[0]
	for _, t := range texts[1:] {
		for !strings.HasPrefix(t, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	return shared
}

// stdTime is a time of the API as the library's, nil for nil.
func stdTime(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}
