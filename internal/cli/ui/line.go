// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// Line prints a line of texts, each in its color. A newline in a text starts another line.
func (c *Console) Line(w io.Writer, texts ...Cell) error {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(c.paint(w, t.Color, c.text(t.Text)))
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}

// Linef prints a text as a line.
func (c *Console) Linef(w io.Writer, format string, args ...any) error {
	return c.Line(w, Cell{Text: fmt.Sprintf(format, args...)})
}

// Labelled prints a label and a text in one line. It wraps the text on a terminal, and indents the
// lines after the first.
func (c *Console) Labelled(w io.Writer, label Cell, indent int, text string) error {
	l := oneLine(c.text(label.Text))
	text = hanging(oneLine(c.text(text)), Width(w), utf8.RuneCountInString(l)+1, indent)
	_, err := fmt.Fprintf(w, "%s %s\n", c.paint(w, label.Color, l), text)
	return err
}

// Wrap returns a text as lines of at most columns characters for Line. It returns one line if
// columns is 0.
func (c *Console) Wrap(text string, columns int) []string {
	return format.Wrap(oneLine(c.text(text)), columns)
}

// text returns a text as it is printed for people. The texts of all functions of this package
// that print pass through it: a text may have parts that other clients of the cluster wrote, and
// commands that lack the flags of this one. It is called before a text is wrapped, shortened or
// painted. A text that has passed doesn't change again.
func (c *Console) text(text string) string {
	if c.Given != nil {
		text = c.Given().Complete(text)
	}
	return format.Printable(text)
}

// oneLine returns a text without newlines, so that it can't look like a line of this program.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }
