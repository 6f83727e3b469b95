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

// Teller prints what the story does and observes while it runs.
type Teller struct {
	out   io.Writer
	color bool
	start time.Time
	mu    sync.Mutex
}

// NewTeller returns a Teller that prints to out. With color, headings and results are
// highlighted.
func NewTeller(out io.Writer, color bool) *Teller {
	return &Teller{out: out, color: color, start: time.Now()} //nolint:forbidigo // the output shows the elapsed time
}

// Heading prints the heading of a step.
func (t *Teller) Heading(number int, text string) {
	t.write("\n" + t.paint("1", fmt.Sprintf("%d. %s", number, text)) + "\n")
}

// Do prints what the story does.
func (t *Teller) Do(format string, args ...any) { t.line("  $", format, args...) }

// Report prints a sentence.
func (t *Teller) Report(format string, args ...any) { t.line("   ", format, args...) }

// Good prints that a result is as expected.
func (t *Teller) Good(format string, args ...any) { t.line(t.paint("32", " ok"), format, args...) }

// Table prints rows in columns. The first row is the heading.
func (t *Teller) Table(rows ...[]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, "          "+strings.Join(r, "\t"))
	}
	_ = w.Flush() // a strings.Builder does not fail
	t.write(b.String())
}

func (t *Teller) line(mark, format string, args ...any) {
	stamp := time.Since(t.start).Round(time.Second)
	t.write(fmt.Sprintf("%s %s %s\n", t.paint("2", fmt.Sprintf("%6s", stamp)), mark, fmt.Sprintf(format, args...)))
}

func (t *Teller) write(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.out, text) // a closed output must not end the story
}

func (t *Teller) paint(code, text string) string {
	if !t.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
