// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"strings"
	"unicode"
)

// OneLine returns a text with a space for each run of white space, and none around it.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// maxPrintable is the maximum length of what Printable returns, in bytes.
const maxPrintable = 2000

// Printable returns a text of another client as one line that is safe to print on a terminal: a
// "?" stands for each character that isn't.
func Printable(text string) string {
	return Truncate(strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, OneLine(text)), maxPrintable)
}
