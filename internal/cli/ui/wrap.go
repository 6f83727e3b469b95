// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"strings"
	"unicode/utf8"
)

// Wrap splits a text at spaces into lines of at most columns characters. A longer word gets its
// own line. Wrap returns the text as one line if columns is 0 or less.
func Wrap(text string, columns int) []string {
	if columns <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// Reflow wraps the paragraphs of a text to a width. It keeps lines that are indented.
func Reflow(text string, width int) string {
	var lines, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			lines = append(lines, Wrap(strings.Join(paragraph, " "), width)...)
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

// Hanging wraps a line to a width. The line starts at column first, and the lines after it are
// indented. Hanging returns the line unchanged if width is 0 or too small.
func Hanging(text string, width, first, indent int) string {
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
