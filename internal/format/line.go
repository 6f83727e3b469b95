// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"strings"
	"unicode"
)

// OneLine returns a text with a space for each run of white space, and none around it.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Printable returns a text that is safe to print on a terminal. It keeps newlines, and returns a
// space for any other white space of a line, and U+FFFD for each character that is not printable:
// controls, such as ESC, and invisible characters, such as those that reverse the direction of text.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n', unicode.IsPrint(c):
			return c
		case c == '\t', unicode.Is(unicode.Zs, c):
			return ' '
		}
		return unicode.ReplacementChar
	}, text)
}

// PrintableLine returns a text of another client as one line that is safe to print. The line has a
// limited length.
func PrintableLine(text string) string { return Truncate(Printable(OneLine(text)), maxPrintableLine) }

// maxPrintableLine is the maximum length of what PrintableLine returns, in bytes.
const maxPrintableLine = 2000
