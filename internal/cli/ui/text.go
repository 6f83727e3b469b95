// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "strings"

// Paragraphs takes the indentation of the source off a text; examples indents it
// as help shows examples.
func Paragraphs(text string) string { return indent(text, "") }

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
