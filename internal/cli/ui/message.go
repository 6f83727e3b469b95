// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "fmt"

// Entry prints lines with one label before the first. It wraps them on a terminal.
func (c *Console) Entry(label string, lines ...string) {
	const indent = 13
	for _, line := range lines {
		fmt.Fprintf(c.ErrOut, "  %-9s  %s\n", label, Hanging(line, Width(c.ErrOut), indent, indent))
		label = ""
	}
}

// Warn prints a warning, which is a whole sentence.
func (c *Console) Warn(format string, args ...any) {
	text := Hanging(fmt.Sprintf(format, args...), Width(c.ErrOut), len("Warning: "), 2)
	fmt.Fprintf(c.ErrOut, "%s %s\n", c.Paint(c.ErrOut, Yellow, "Warning:"), text)
}

// Step prints that a step of an operation is done.
func (c *Console) Step(format string, args ...any) {
	fmt.Fprintf(c.ErrOut, "%s %s\n", c.Paint(c.ErrOut, Green, "✓"), Hanging(fmt.Sprintf(format, args...), Width(c.ErrOut), 2, 2))
}
