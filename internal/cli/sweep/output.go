// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/sweep"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// output returns what is left over as it is printed.
func output(namespace string, s *sweep.State) *v1alpha1.SweepReport {
	r := &v1alpha1.SweepReport{Namespace: namespace, Items: []v1alpha1.Leftover{}}
	left := s.Left()
	for at := range left {
		i := &left[at]
		out := v1alpha1.Leftover{
			Kind: string(i.Facts.Kind), Namespace: i.Namespace, Object: i.Object(), Cluster: i.Cluster,
			Action: i.Verdict.Action.String(), Reason: i.Verdict.Reason.Name(), Message: i.Verdict.Message, Ways: i.Ways,
		}
		if !i.Since.IsZero() {
			out.Since = &metav1.Time{Time: i.Since}
		}
		r.Items = append(r.Items, out)
	}
	for _, u := range s.Unseen {
		r.Unseen = append(r.Unseen, v1alpha1.Unseen{What: u.What, Why: u.Why})
	}
	return r
}

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
				a.Notef("Nothing can be removed now%s. An operation may still run, because it held its lock in the last 10 minutes, and may use %s.", app.ScopeText(r.Namespace, ""), policy.List(used))
			case len(r.Unseen) == 0:
				a.Notef("Nothing left behind%s.", app.ScopeText(r.Namespace, ""))
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

// used returns the objects of operations that hold their lock, or that held it a short time ago.
func used(s *sweep.State) []string {
	var objects []string
	for at := range s.Items {
		if i := &s.Items[at]; i.Verdict.Reason == rules.OperationRuns {
			objects = append(objects, i.Object())
		}
	}
	return objects
}

// unknown returns an error for exit code 3 if it is not known whether something is left over.
func unknown(s *sweep.State) error {
	open := 0
	for _, i := range s.Items {
		if i.Verdict.Action == rules.NotKnown {
			open++
		}
	}
	switch {
	case open > 0:
		return app.Unhealthy("it is not known whether %s is left over%s", policy.Count(open, "object"), because(s))
	case len(s.Unseen) > 0:
		return app.Unhealthy("it is not known whether more is left over%s", because(s))
	}
	return nil
}

// because returns the first reason for which something is not known.
func because(s *sweep.State) string {
	if len(s.Unseen) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s: %s", s.Unseen[0].What, s.Unseen[0].Why)
}
