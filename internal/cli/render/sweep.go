// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"io"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// wayText is the column WAY by action.
var wayText = map[string]ui.Cell{
	rules.Remove.String():      {Text: "--remove"},
	rules.RemoveClaim.String(): {Text: "--delete-claims"},
	rules.ByHand.String():      {Text: "by hand", Color: ui.Yellow},
	rules.NotKnown.String():    {Text: "unknown", Color: ui.Yellow},
}

// Sweep returns the text of what is left over. used are the objects that running operations may use.
func Sweep(c *ui.Console, r *v1alpha1.SweepReport, used []string, now time.Time) Text {
	return func(w io.Writer, wide bool) error {
		for _, u := range r.Unseen {
			c.Warn("%s: %s.", u.What, u.Why)
		}
		if len(r.Items) == 0 {
			switch {
			case len(used) > 0:
				c.Notef("Nothing can be removed now%s. An operation may still run, because it held its lock in the last 10 minutes, and may use %s.", ui.ScopeText(r.Namespace, ""), policy.List(used))
			case len(r.Unseen) == 0:
				c.Notef("Nothing left behind%s.", ui.ScopeText(r.Namespace, ""))
			}
			return nil
		}
		return errors.Join(sweepTable(r, now).Write(c, w, wide), writeWays(c, w, r))
	}
}

// sweepTable returns a table with one row for each object. It has the namespaces if all were searched.
func sweepTable(r *v1alpha1.SweepReport, now time.Time) *ui.Table {
	t := &ui.Table{Columns: []ui.Column{
		{Name: "KIND"}, {Name: "OBJECT", Shrink: 16}, {Name: "WHY", Shrink: 20}, {Name: "AGE", Spare: 1}, {Name: "WAY"}, {Name: "REASON", Wide: true},
	}}
	namespaces := r.Namespace == ""
	if namespaces {
		t.Columns = append([]ui.Column{{Name: "NAMESPACE", Shrink: 9}}, t.Columns...)
	}
	for i := range r.Items {
		l := &r.Items[i]
		age := ""
		if l.Since != nil {
			age = format.Since(now, l.Since.Time)
		}
		row := []ui.Cell{{Text: l.Kind}, {Text: l.Object}, {Text: l.Message}, {Text: age}, wayText[l.Action], {Text: l.Reason}}
		if namespaces {
			row = append([]ui.Cell{{Text: l.Namespace}}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// writeWays prints the command of each way once. They are not shortened: users type them.
func writeWays(c *ui.Console, w io.Writer, r *v1alpha1.SweepReport) error {
	printed := map[string]bool{}
	var failed error
	for i := range r.Items {
		for _, way := range r.Items[i].Ways {
			if printed[way] {
				continue
			}
			if len(printed) == 0 {
				failed = errors.Join(failed, c.Line(w))
			}
			printed[way] = true
			failed = errors.Join(failed, c.Linef(w, "%s", way))
		}
	}
	return failed
}
