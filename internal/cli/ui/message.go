// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "fmt"

// Entry prints lines under one label, on a terminal broken between words.
func (c *Console) Entry(label string, lines ...string) {
	const indent = 13
	for _, line := range lines {
		fmt.Fprintf(c.ErrOut, "  %-9s  %s\n", label, Hanging(line, Width(c.ErrOut), indent, indent))
		label = ""
	}
}

// Warn prints a whole sentence that a human should know.
func (c *Console) Warn(format string, args ...any) {
	text := Hanging(fmt.Sprintf(format, args...), Width(c.ErrOut), len("Warning: "), 2)
	fmt.Fprintf(c.ErrOut, "%s %s\n", c.Paint(c.ErrOut, Yellow, "Warning:"), text)
}

// Step prints what was just done, one line of a longer operation.
func (c *Console) Step(format string, args ...any) {
	fmt.Fprintf(c.ErrOut, "%s %s\n", c.Paint(c.ErrOut, Green, "✓"), Hanging(fmt.Sprintf(format, args...), Width(c.ErrOut), 2, 2))
}
