// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// Reflow wraps the paragraphs of a text to a width. It keeps lines that are indented.
func Reflow(text string, width int) string {
	var lines, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			lines = append(lines, format.Wrap(strings.Join(paragraph, " "), width)...)
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		lines = append(lines, line)
	}
	end()
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// hanging wraps a line to a width. The line starts at column first, and the lines after it are
// indented. hanging returns the line unchanged if width is 0 or too small.
func hanging(text string, width, first, indent int) string {
	if width < indent+20 {
		return text
	}
	var b strings.Builder
	column := first
	for i, word := range strings.Split(text, " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+length > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}
