// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/check"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// printer writes reports for people: a heading for each category, a line for
// each check, and below it what was found and what mends it.
type printer struct {
	*ui.Console

	out io.Writer
	// columns is where lines are broken, 0 for nowhere. Commands never are.
	columns int
	// all has those checks, too, that don't apply; problems leaves away what is OK.
	all, problems bool
}

// mark is how a level is shown: a sign, and a word that says the same.
type mark struct {
	sign, word string
	color      ui.Color
}

var marks = map[check.Level]mark{
	check.OK:            {"√", "OK", ui.Green},
	check.Info:          {"i", "INFO", ui.NoColor},
	check.Unknown:       {"?", "UNKNOWN", ui.Yellow},
	check.Warning:       {"‼", "WARN", ui.Yellow},
	check.Failure:       {"×", "FAIL", ui.Red},
	check.NotApplicable: {"-", "-", ui.Dim},
}

// indent is where a check's findings begin: behind sign, word and ID.
const indent = 15

func (p *printer) print(reports []v1alpha1.CheckReport) error {
	for i := range reports {
		if i > 0 {
			p.line("")
		}
		p.report(&reports[i])
	}
	if len(reports) > 1 {
		p.line("")
		p.total(reports)
	}
	return nil
}

func (p *printer) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	fmt.Fprintln(p.out, text)
}

func (p *printer) report(r *v1alpha1.CheckReport) {
	c := r.Cluster
	p.line("%s", p.Paint(p.out, ui.Bold, fmt.Sprintf("%s in namespace %s (%s, %s)", c.Target, c.Namespace, c.Distribution, ui.NumberOf(int(c.Replicas), "member", "members"))))
	category := ""
	said := map[string]string{} // what was not known, and where that was said
	for i := range r.Checks {
		one := &r.Checks[i]
		if level := check.Level(one.Result); level == check.NotApplicable && !p.all || p.problems && !level.Worse(check.Info) {
			continue
		}
		if one.Category != category {
			category = one.Category
			p.line("")
			p.line("%s", p.Paint(p.out, ui.Bold, category))
			p.line("%s", strings.Repeat("-", len(category)))
		}
		p.check(one, said)
	}
	p.line("")
	p.summary("", r)
}

func (p *printer) check(c *v1alpha1.CheckResult, said map[string]string) {
	m := marks[check.Level(c.Result)]
	title := c.Title
	findings := c.Findings
	if len(findings) == 1 && !check.Level(c.Result).Worse(check.OK) {
		title, findings = title+": "+findings[0].Message, nil
	}
	head := fmt.Sprintf("%s %-7s %s ", m.sign, m.word, c.ID)
	lines := p.wrap(title, indent)
	p.line("%s%s", p.Paint(p.out, m.color, head), lines[0])
	for _, rest := range lines[1:] {
		p.line("%s%s", strings.Repeat(" ", indent), rest)
	}
	for i, f := range findings {
		p.finding(c, f, i+1 < len(findings) && findings[i+1].Fix == f.Fix, said)
	}
}

func (p *printer) finding(c *v1alpha1.CheckResult, f v1alpha1.CheckFinding, fixFollows bool, said map[string]string) {
	text := f.Message
	if f.Level == string(check.Unknown) {
		if where := said[text]; where != "" {
			p.indented("not known, as " + where + " says")
			return
		}
		said[text] = c.ID
	}
	if f.Level != c.Result {
		text = strings.ToLower(marks[check.Level(f.Level)].word) + ": " + text
	}
	p.indented(text)
	if f.Fix != "" && !fixFollows {
		p.line("%sfix: %s", strings.Repeat(" ", indent), f.Fix)
	}
}

func (p *printer) indented(text string) {
	for _, line := range p.wrap(text, indent) {
		p.line("%s%s", strings.Repeat(" ", indent), line)
	}
}

// wrap breaks a text where the terminal ends, behind so many columns of
// indentation. A word that is too long stays whole.
func (p *printer) wrap(text string, indentation int) []string {
	room := p.columns - indentation
	if p.columns == 0 || room < 20 {
		return []string{text}
	}
	return ui.Wrap(text, room)
}

// summary counts: "× FAIL  1 failure, 2 warnings, 40 OK, 12 not applicable".
func (p *printer) summary(name string, r *v1alpha1.CheckReport) {
	s, m := r.Summary, marks[check.Level(r.Result)]
	var parts []string
	for _, n := range []struct {
		n         int
		one, many string
	}{
		{s.Failure, "failure", "failures"}, {s.Warning, "warning", "warnings"}, {s.Unknown, "unknown", "unknown"},
		{s.Info, "info", "info"}, {s.OK, "OK", "OK"}, {s.NotApplicable, "not applicable", "not applicable"},
	} {
		if n.n > 0 {
			parts = append(parts, ui.NumberOf(n.n, n.one, n.many))
		}
	}
	if name != "" {
		name += "  "
	}
	head := fmt.Sprintf("%s %-7s ", m.sign, m.word)
	lines := p.wrap(strings.Join(parts, ", "), utf8.RuneCountInString(name+head))
	p.line("%s%s%s", name, p.Paint(p.out, m.color, head), lines[0])
	for _, rest := range lines[1:] {
		p.line("%s%s", strings.Repeat(" ", utf8.RuneCountInString(name+head)), rest)
	}
}

// total is one line for each of several clusters.
func (p *printer) total(reports []v1alpha1.CheckReport) {
	p.line("%s", p.Paint(p.out, ui.Bold, "summary"))
	p.line("-------")
	longest := 0
	for _, r := range reports {
		longest = max(longest, len(r.Cluster.Namespace)+1+len(r.Cluster.Target))
	}
	for i := range reports {
		c := reports[i].Cluster
		p.summary(fmt.Sprintf("%-*s", longest, c.Namespace+" "+c.Target), &reports[i])
	}
}
