// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"errors"
	"io"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/sweep"
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

// table returns a function that prints what is left over for people.
func table(a *app.App, r *v1alpha1.SweepReport, used []string, namespaces bool) func(w io.Writer, wide bool) error {
	return func(w io.Writer, wide bool) error {
		for _, u := range r.Unseen {
			a.Warn("%s: %s.", u.What, u.Why)
		}
		if len(r.Items) == 0 {
			switch {
			case len(used) > 0:
				a.Notef("Nothing can be removed now%s. An operation may still run, because it held its lock in the last 10 minutes, and may use %s.", ui.ScopeText(r.Namespace, ""), policy.List(used))
			case len(r.Unseen) == 0:
				a.Notef("Nothing left behind%s.", ui.ScopeText(r.Namespace, ""))
			}
			return nil
		}
		t := &ui.Table{Columns: []ui.Column{
			{Name: "KIND"}, {Name: "OBJECT", Shrink: 16}, {Name: "WHY", Shrink: 20}, {Name: "AGE", Spare: 1}, {Name: "WAY"}, {Name: "REASON", Wide: true},
		}}
		if namespaces {
			t.Columns = append([]ui.Column{{Name: "NAMESPACE", Shrink: 9}}, t.Columns...)
		}
		for i := range r.Items {
			t.Rows = append(t.Rows, row(a, &r.Items[i], namespaces))
		}
		return errors.Join(t.Write(a.Console, w, wide), commands(a, w, r))
	}
}

func row(a *app.App, l *v1alpha1.Leftover, namespaces bool) []ui.Cell {
	age := ""
	if l.Since != nil {
		age = format.Since(a.Clock.Now(), l.Since.Time)
	}
	cells := []ui.Cell{{Text: l.Kind}, {Text: l.Object}, {Text: l.Message}, {Text: age}, wayText[l.Action], {Text: l.Reason}}
	if namespaces {
		cells = append([]ui.Cell{{Text: l.Namespace}}, cells...)
	}
	return cells
}

// commands prints the command of each way once. They are not shortened: users type them.
func commands(a *app.App, w io.Writer, r *v1alpha1.SweepReport) error {
	printed := map[string]bool{}
	var failed error
	for i := range r.Items {
		for _, way := range r.Items[i].Ways {
			if printed[way] {
				continue
			}
			if len(printed) == 0 {
				failed = errors.Join(failed, a.Line(w))
			}
			printed[way] = true
			failed = errors.Join(failed, a.Linef(w, "%s", way))
		}
	}
	return failed
}

// unknown returns an error for exit code 3 if it is not known whether something is left over.
func unknown(s *sweep.State) error {
	if doubt := s.Doubt(); doubt != "" {
		return app.Unhealthy("%s", doubt)
	}
	return nil
}
