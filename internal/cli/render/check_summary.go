// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// summary prints the counts: "× FAIL  1 failure, 2 warnings, 40 OK, 12 not applicable".
func (p *checkPrinter) summary(name string, r *v1alpha1.CheckReport) {
	s, m := r.Summary, marks[health.Level(r.Result)]
	var parts []string
	for _, n := range []struct {
		n         int
		one, many string
	}{
		{s.Failure, "failure", "failures"}, {s.Warning, "warning", "warnings"}, {s.Unknown, "unknown", "unknown"},
		{s.Info, "info", "info"}, {s.OK, "OK", "OK"}, {s.NotApplicable, "not applicable", "not applicable"},
	} {
		if n.n > 0 {
			parts = append(parts, policy.Plural(n.n, n.one, n.many))
		}
	}
	if name != "" {
		name += "  "
	}
	head := fmt.Sprintf("%s %-7s ", m.sign, m.label)
	lines := p.wrap(strings.Join(parts, ", "), utf8.RuneCountInString(name+head))
	p.line(ui.Cell{Text: name}, ui.Cell{Text: head, Color: m.color}, ui.Cell{Text: lines[0]})
	for _, rest := range lines[1:] {
		p.line(ui.Cell{Text: strings.Repeat(" ", utf8.RuneCountInString(name+head)) + rest})
	}
}

// total prints one line for each cluster.
func (p *checkPrinter) total(reports []v1alpha1.CheckReport) {
	p.line(ui.Cell{Text: "summary", Color: ui.Bold})
	p.line(ui.Cell{Text: "-------"})
	longest := 0
	for _, r := range reports {
		longest = max(longest, len(r.Cluster.Namespace)+1+len(r.Cluster.Target))
	}
	for i := range reports {
		c := reports[i].Cluster
		p.summary(fmt.Sprintf("%-*s", longest, c.Namespace+" "+c.Target), &reports[i])
	}
}
