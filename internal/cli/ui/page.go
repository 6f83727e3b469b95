// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// Page writes sections. Their headings are in a column on the left.
type Page struct {
	Console *Console
	Out     *Screen
	Now     time.Time

	heading string
}

// headingWidth is the width of the column with the headings.
const headingWidth = 12

// Section writes a text with its heading, unless the section before has the same heading. It
// wraps the text.
func (p *Page) Section(heading string, c Color, text string) {
	if text == "" {
		return
	}
	p.lines(heading, c, p.Console.Wrap(text, p.Out.Columns-headingWidth))
}

// lines writes lines that are safe to print.
func (p *Page) lines(heading string, c Color, lines []string) {
	for i, line := range lines {
		p.line(heading, p.Console.paint(p.Out, c, line), i > 0)
	}
}

// Verbatim writes a line without wrapping it, so that users can copy it.
func (p *Page) Verbatim(heading, text string) {
	p.line(heading, oneLine(p.Console.text(text)), false)
}

// line writes a text that is safe to print.
func (p *Page) line(heading, text string, continued bool) {
	if continued || heading == p.heading {
		heading = ""
	} else {
		p.heading = heading
	}
	heading = oneLine(p.Console.text(heading))
	pad := strings.Repeat(" ", max(1, headingWidth-utf8.RuneCountInString(heading)))
	fmt.Fprintln(p.Out, p.Console.paint(p.Out, Bold, heading)+pad+text)
}

// Problems writes the section of problems.
func (p *Page) Problems(problems []v1alpha1.Problem) {
	for _, problem := range problems {
		c := Yellow
		if problem.Severity == v1alpha1.SeverityError {
			c = Red
		}
		p.Section("Problems", c, strings.ToLower(problem.Severity)+": "+problem.Message)
	}
}

// Warnings writes the section of Events. They are quoted, so a command in them is not completed.
func (p *Page) Warnings(events []v1alpha1.WarningEvent) {
	for _, e := range events {
		times := ""
		if e.Count > 1 {
			times = fmt.Sprintf(" (%d times)", e.Count)
		}
		text := fmt.Sprintf("%s ago %s %s: %s%s", format.Since(p.Now, e.Last.Time), e.Object, e.Reason, e.Message, times)
		p.lines("Warnings", NoColor, format.Wrap(oneLine(format.Printable(text)), p.Out.Columns-headingWidth))
	}
}

// HealthColors are the colors of the health values in api/output.
var HealthColors = map[string]Color{
	v1alpha1.Healthy: Green, v1alpha1.Degraded: Yellow, v1alpha1.Down: Red, v1alpha1.Unknown: Yellow,
}

// Narrow is the width below which tables have smaller gaps and shorter names.
const Narrow = 110

// TrimSharedPrefix shortens names to limit characters, as far as they have a common prefix.
func TrimSharedPrefix(names []string, limit int) []string {
	shared := sharedPrefix(names)
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		if cut := min(len(shared), len(n)-limit+1); len(n) > limit && cut > 1 {
			out[i] = "…" + n[cut:]
		}
	}
	return out
}

// sharedPrefix returns the common prefix of all texts that are not empty.
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
