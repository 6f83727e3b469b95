// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Check returns the text of the reports of one or several clusters. If problems, it omits checks
// that are OK.
func Check(c *ui.Console, reports []v1alpha1.CheckReport, problems bool) Text {
	return func(w io.Writer, wide bool) error {
		p := checkPrinter{Console: c, out: w, columns: ui.Width(w), all: wide, problems: problems}
		p.print(reports)
		return nil
	}
}

// checkPrinter writes reports. Each category has a heading, and each check has a line
// followed by its findings and fixes.
type checkPrinter struct {
	*ui.Console

	out io.Writer
	// columns is the width of lines, 0 for no limit. Commands are never wrapped.
	columns int
	// all includes checks that don't apply. problems omits checks that are OK.
	all, problems bool
}

// mark is how a level is shown: a sign, and a label with the same meaning.
type mark struct {
	sign, label string
	color       ui.Color
}

var marks = map[health.Level]mark{
	health.OK:            {"√", "OK", ui.Green},
	health.Info:          {"i", "INFO", ui.NoColor},
	health.Unknown:       {"?", "UNKNOWN", ui.Yellow},
	health.Warning:       {"‼", "WARN", ui.Yellow},
	health.Failure:       {"×", "FAIL", ui.Red},
	health.NotApplicable: {"-", "-", ui.Dim},
}

// checkIndent is the width of the sign, label and ID, after which findings start.
const checkIndent = 15

func (p *checkPrinter) print(reports []v1alpha1.CheckReport) {
	for i := range reports {
		if i > 0 {
			p.line()
		}
		p.report(&reports[i])
	}
	if len(reports) > 1 {
		p.line()
		p.total(reports)
	}
}

func (p *checkPrinter) line(texts ...ui.Cell) { _ = p.Line(p.out, texts...) }

func (p *checkPrinter) report(r *v1alpha1.CheckReport) {
	c := r.Cluster
	p.line(ui.Cell{Text: fmt.Sprintf("%s in namespace %s (%s, %s)", c.Target, c.Namespace, c.Distribution, policy.Count(int(c.Replicas), "member")), Color: ui.Bold})
	category := ""
	unknown := map[string]string{} // the check that first reported an unknown fact
	for i := range r.Checks {
		one := &r.Checks[i]
		if level := health.Level(one.Result); level == health.NotApplicable && !p.all || p.problems && !level.Worse(health.Info) {
			continue
		}
		if one.Category != category {
			category = one.Category
			p.line()
			p.line(ui.Cell{Text: category, Color: ui.Bold})
			p.line(ui.Cell{Text: strings.Repeat("-", len(category))})
		}
		p.check(one, unknown)
	}
	p.line()
	p.summary("", r)
}

func (p *checkPrinter) check(c *v1alpha1.CheckResult, unknown map[string]string) {
	m := marks[health.Level(c.Result)]
	title := c.Title
	findings := c.Findings
	if len(findings) == 1 && !health.Level(c.Result).Worse(health.OK) {
		title, findings = title+": "+findings[0].Message, nil
	}
	head := fmt.Sprintf("%s %-7s %s ", m.sign, m.label, c.ID)
	lines := p.wrap(title, checkIndent)
	p.line(ui.Cell{Text: head, Color: m.color}, ui.Cell{Text: lines[0]})
	for _, rest := range lines[1:] {
		p.line(ui.Cell{Text: strings.Repeat(" ", checkIndent) + rest})
	}
	for i, f := range findings {
		p.finding(c, f, i+1 < len(findings) && findings[i+1].Fix == f.Fix, unknown)
	}
}

func (p *checkPrinter) finding(c *v1alpha1.CheckResult, f v1alpha1.CheckFinding, fixFollows bool, unknown map[string]string) {
	text := f.Message
	if f.Level == string(health.Unknown) {
		if first := unknown[text]; first != "" {
			p.indented("unknown for the same reason as " + first)
			return
		}
		unknown[text] = c.ID
	}
	if f.Level != c.Result {
		text = strings.ToLower(marks[health.Level(f.Level)].label) + ": " + text
	}
	p.indented(text)
	if f.Fix != "" && !fixFollows {
		p.line(ui.Cell{Text: strings.Repeat(" ", checkIndent) + "fix: " + p.Wrap(f.Fix, 0)[0]})
	}
}

func (p *checkPrinter) indented(text string) {
	for _, line := range p.wrap(text, checkIndent) {
		p.line(ui.Cell{Text: strings.Repeat(" ", checkIndent) + line})
	}
}

// wrap wraps a text to the width of the terminal, less the indentation.
func (p *checkPrinter) wrap(text string, indentation int) []string {
	room := p.columns - indentation
	if p.columns == 0 || room < 20 {
		room = 0
	}
	return p.Wrap(text, room)
}
