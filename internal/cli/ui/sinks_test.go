// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// hostile are parts of texts that would change what a terminal shows.
var hostile = map[string]string{
	"ESC":             "\x1b",
	"color":           "\x1b[31m",
	"clear":           "\x1b[2J",
	"CSI of C1":       "\u009b2J",
	"OSC":             "\x1b]0;title\x07",
	"OSC of C1":       "\u009d0;title\u009c",
	"BEL":             "\x07",
	"carriage return": "\r",
	"backspace":       "\b\b",
	"delete":          "\x7f",
	"right to left":   "\u202e",
	"isolate":         "\u2066",
	"zero width":      "\u200b",
	"half a byte":     "\xff",
}

// sinks are all functions of this package that print a text.
var sinks = map[string]func(c *Console, text string){
	"Entry":        func(c *Console, text string) { c.Entry("label", text) },
	"Warn":         func(c *Console, text string) { c.Warn("%s", text) },
	"Step":         func(c *Console, text string) { c.Step("%s", text) },
	"Await":        func(c *Console, text string) { c.Await(text) },
	"Notef":        func(c *Console, text string) { c.Notef("%s", text) },
	"Linef":        func(c *Console, text string) { _ = c.Linef(c.Out, "%s", text) },
	"Line":         func(c *Console, text string) { _ = c.Line(c.Out, Cell{Text: text}, Cell{Text: text, Color: Red}) },
	"Labelled":     func(c *Console, text string) { _ = c.Labelled(c.Out, Cell{Text: text}, 2, text) },
	"Ask":          func(c *Console, text string) { _, _ = c.Ask(context.Background(), text) },
	"Prompt":       func(c *Console, text string) { c.Prompt("%s: ", text) },
	"StatusLine":   func(c *Console, text string) { (&StatusLine{console: c, out: c.ErrOut, columns: 80}).Show(text) },
	"Progress":     progress,
	"table":        func(c *Console, text string) { _ = writeTable(c, c.Out, text) },
	"narrow table": func(c *Console, text string) { onScreen(c, func(s *Screen) { _ = writeTable(c, s, text) }) },
	"page":         func(c *Console, text string) { onPage(c, func(p *Page) { p.Section("Heading", Red, text) }) },
	"verbatim":     func(c *Console, text string) { onPage(c, func(p *Page) { p.Verbatim("Heading", text) }) },
	"heading":      func(c *Console, text string) { onPage(c, func(p *Page) { p.Section(text, NoColor, "text") }) },
	"problems": func(c *Console, text string) {
		onPage(c, func(p *Page) { p.Problems([]v1alpha1.Problem{{Severity: "Error", Message: text}}) })
	},
	"Events": func(c *Console, text string) {
		onPage(c, func(p *Page) { p.Warnings([]v1alpha1.WarningEvent{event(text)}) })
	},
	"server's text": func(c *Console, text string) { c.ServerWarnings().HandleWarningHeader(299, "-", text) },
}

func progress(c *Console, text string) {
	p := c.NewProgress(text, 0)
	_, _ = io.WriteString(c.ErrOut, p.text(time.Second))
	p.Finish()
}

func event(text string) v1alpha1.WarningEvent {
	return v1alpha1.WarningEvent{Last: metav1.NewTime(time.Unix(0, 0)), Reason: text, Message: text, Object: text}
}

func writeTable(c *Console, w io.Writer, text string) error {
	t := Table{Columns: []Column{{Name: "A"}, {Name: "B", Shrink: 4}}, Rows: [][]Cell{{{Text: text, Color: Red}, {Text: text}}}}
	return t.Write(c, w, false)
}

func onScreen(c *Console, write func(*Screen)) {
	s := &Screen{Columns: 40, colored: true}
	write(s)
	_, _ = c.Out.Write(s.Bytes())
}

func onPage(c *Console, write func(*Page)) {
	onScreen(c, func(s *Screen) { write(&Page{Console: c, Out: s, Now: time.Unix(60, 0)}) })
}

// codes are those that this package writes.
var codes = regexp.MustCompile(`\x1b\[(1|2|31|32|33)m([^\x1b]*)\x1b\[0m|^\r|\x1b\[K$`)

// TestSinks: no text that is printed controls the terminal.
func TestSinks(t *testing.T) {
	t.Parallel()
	for sink, write := range sinks {
		for name, text := range hostile {
			for _, color := range []ColorMode{ColorNever, ColorAlways} {
				var out bytes.Buffer
				c := NewConsole(genericiooptions.IOStreams{In: strings.NewReader("n\n"), Out: &out, ErrOut: &out})
				c.Color = color
				write(c, "all"+text+" is well")
				got := out.String()
				if !strings.Contains(got, "all") || !strings.Contains(got, "\ufffd") {
					t.Errorf("%s of %s: the text is missing: %q", sink, name, got)
				}
				rest := codes.ReplaceAllString(got, "$2")
				if strings.ContainsFunc(rest, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
					t.Errorf("%s of %s prints %q", sink, name, got)
				}
			}
		}
	}
}

// TestCellsAreLines: a newline in a cell or a section starts no line of its own.
func TestCellsAreLines(t *testing.T) {
	t.Parallel()
	for _, sink := range []string{"table", "page", "verbatim", "Events", "server's text", "Entry", "StatusLine"} {
		var out bytes.Buffer
		c := NewConsole(genericiooptions.IOStreams{Out: &out, ErrOut: &out})
		sinks[sink](c, "all\nWarning: forged")
		if strings.Contains(out.String(), "\nWarning: forged") {
			t.Errorf("%s prints a line of another client:\n%s", sink, &out)
		}
	}
}
