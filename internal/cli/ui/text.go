// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "strings"

// Paragraphs removes the indentation of the source code from a text.
func Paragraphs(text string) string { return indent(text, "") }

// Examples does what Paragraphs does, and indents the text as examples in help texts.
func Examples(text string) string { return indent(text, "  ") }

func indent(text, by string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		if line = strings.TrimLeft(line, "\t"); line != "" {
			line = by + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
