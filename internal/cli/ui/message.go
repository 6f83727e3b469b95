// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"sync"

	"k8s.io/client-go/rest"
)

// Notef prints a line for people who watch the command.
func (c *Console) Notef(format string, args ...any) { _ = c.Linef(c.ErrOut, format, args...) }

// Entry prints lines with one label before the first. It wraps them on a terminal.
func (c *Console) Entry(label string, lines ...string) {
	const indent = 13
	for _, line := range lines {
		_ = c.Labelled(c.ErrOut, Cell{Text: fmt.Sprintf("  %-9s ", label)}, indent, line)
		label = ""
	}
}

// Warn prints a warning, which is a whole sentence.
func (c *Console) Warn(format string, args ...any) {
	_ = c.Labelled(c.ErrOut, Cell{Text: "Warning:", Color: Yellow}, 2, fmt.Sprintf(format, args...))
}

// Step prints that a step of an operation is done.
func (c *Console) Step(format string, args ...any) {
	_ = c.Labelled(c.ErrOut, Cell{Text: "✓", Color: Green}, 2, fmt.Sprintf(format, args...))
}

// Await prints what an operation waits for.
func (c *Console) Await(what string) {
	_ = c.Labelled(c.ErrOut, Cell{Text: "…", Color: Yellow}, 2, what)
}

// ServerWarnings prints each warning of the API server once. Admission webhooks write them.
func (c *Console) ServerWarnings() rest.WarningHandler { return &serverWarnings{console: c} }

// serverWarnings prints each warning of the API server once.
type serverWarnings struct {
	console *Console

	mu      sync.Mutex
	printed map[string]bool
}

// HandleWarningHeader implements rest.WarningHandler. 299 is the only code of warnings that
// Kubernetes has.
func (s *serverWarnings) HandleWarningHeader(code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.printed[text] {
		return
	}
	if s.printed == nil {
		s.printed = map[string]bool{}
	}
	s.printed[text] = true
	s.console.Warn("%s", text)
}
