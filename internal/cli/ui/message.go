// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "fmt"

// Entry prints lines under one label, on a terminal broken between words.
func (e *Console) Entry(label string, lines ...string) {
	const indent = 13
	for _, line := range lines {
		fmt.Fprintf(e.ErrOut, "  %-9s  %s\n", label, Hanging(line, Width(e.ErrOut), indent, indent))
		label = ""
	}
}

// Warn prints a whole sentence that a human should know.
func (e *Console) Warn(format string, args ...any) {
	text := Hanging(fmt.Sprintf(format, args...), Width(e.ErrOut), len("Warning: "), 2)
	fmt.Fprintf(e.ErrOut, "%s %s\n", e.Paint(e.ErrOut, Yellow, "Warning:"), text)
}

// Step prints what was just done, one line of a longer operation.
func (e *Console) Step(format string, args ...any) {
	fmt.Fprintf(e.ErrOut, "%s %s\n", e.Paint(e.ErrOut, Green, "✓"), Hanging(fmt.Sprintf(format, args...), Width(e.ErrOut), 2, 2))
}
