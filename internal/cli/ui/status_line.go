// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"sync"
)

// StatusLine shows the current activity in one line on stderr, if that is a terminal. It is
// safe for concurrent use.
type StatusLine struct {
	mu      sync.Mutex
	console *Console
	out     io.Writer
	columns int
}

// NewStatusLine returns an empty StatusLine. The caller must call End.
func (c *Console) NewStatusLine() *StatusLine {
	return &StatusLine{console: c, out: c.ErrOut, columns: Width(c.ErrOut)}
}

// Show replaces the text of the line.
func (p *StatusLine) Show(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.columns > 0 {
		fmt.Fprint(p.out, "\r"+Shorten(oneLine(p.console.text(what))+" ...", p.columns-1)+"\x1b[K")
	}
}

// End removes the line.
func (p *StatusLine) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.columns > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
