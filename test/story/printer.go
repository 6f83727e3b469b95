// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// Printer prints what the story does and observes while it runs.
type Printer struct {
	out   io.Writer
	color bool
	start time.Time
	mu    sync.Mutex
}

// NewPrinter returns a Printer that prints to out. With color, headings and results are
// highlighted.
func NewPrinter(out io.Writer, color bool) *Printer {
	return &Printer{out: out, color: color, start: time.Now()} //nolint:forbidigo // the output shows the elapsed time
}

// Heading prints the heading of a step.
func (p *Printer) Heading(number int, text string) {
	p.write("\n" + p.paint("1", fmt.Sprintf("%d. %s", number, text)) + "\n")
}

// Do prints what the story does.
func (p *Printer) Do(format string, args ...any) { p.line("  $", format, args...) }

// Report prints a sentence.
func (p *Printer) Report(format string, args ...any) { p.line("   ", format, args...) }

// Good prints that a result is as expected.
func (p *Printer) Good(format string, args ...any) { p.line(p.paint("32", " ok"), format, args...) }

// Table prints rows in columns. The first row is the heading.
func (p *Printer) Table(rows ...[]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, "          "+strings.Join(r, "\t"))
	}
	_ = w.Flush() // a strings.Builder does not fail
	p.write(b.String())
}

func (p *Printer) line(mark, format string, args ...any) {
	stamp := time.Since(p.start).Round(time.Second)
	p.write(fmt.Sprintf("%s %s %s\n", p.paint("2", fmt.Sprintf("%6s", stamp)), mark, fmt.Sprintf(format, args...)))
}

func (p *Printer) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, text) // a closed output must not end the story
}

func (p *Printer) paint(code, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
