// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// writeRestored describes what an etcd has that was started from a snapshot. Nil is none.
func writeRestored(c *ui.Console, w io.Writer, r *v1alpha1.RestoredSnapshot) error {
	if r == nil {
		return nil
	}
	alarms := "none"
	if len(r.Alarms) > 0 {
		alarms = strings.Join(r.Alarms, ", ")
	}
	for _, l := range [][2]string{
		{"Restored", fmt.Sprintf("etcd %s started from it, and was removed", r.EtcdVersion)},
		{"  Data", fmt.Sprintf("revision %d, %s, %s", r.Revision, policy.Count(int(r.Keys), "key"), policy.Count(r.Leases, "lease"))},
		{"  Database", fmt.Sprintf("%s, %s in use", policy.Bytes(r.Size), policy.Bytes(r.SizeInUse))},
		{"  Alarms", alarms},
		{"  HashKV", r.HashKV},
	} {
		if err := c.Labelled(w, ui.Cell{Text: fmt.Sprintf("%-12s", l[0]+":")}, 13, l[1]); err != nil {
			return err
		}
	}
	if len(r.Prefixes) == 0 {
		return nil
	}
	t := &ui.Table{Columns: []ui.Column{{Name: "PREFIX", Shrink: 16}, {Name: "KEYS", Right: true}, {Name: "BYTES", Right: true}}}
	for _, p := range r.Prefixes {
		name := format.PrintableLine(p.Prefix)
		if name == "" {
			name = "(none)"
		}
		t.Rows = append(t.Rows, ui.Plain(name, strconv.FormatInt(p.Keys, 10), policy.Bytes(p.Bytes)))
	}
	if err := c.Line(w); err != nil {
		return err
	}
	return t.Write(c, w, false)
}
