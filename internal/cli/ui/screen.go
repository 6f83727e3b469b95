// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// Screen is a buffer for a stream, with the size and colors of that stream.
type Screen struct {
	bytes.Buffer

	// Columns and Rows are the size of a terminal, 0 for other streams.
	Columns, Rows int
	colored       bool
}

// Screen returns an empty Screen for a stream.
func (c *Console) Screen(w io.Writer) *Screen {
	s := &Screen{Columns: Width(w), colored: c.paints(w)}
	if fd, ok := Terminal(w); ok {
		if _, rows, err := term.GetSize(fd); err == nil {
			s.Rows = rows
		}
	}
	return s
}

// Redraw overwrites a terminal with a Screen for it. It omits lines that don't fit, because they would scroll the terminal.
func (c *Console) Redraw(terminal io.Writer, s *Screen) error {
	lines := strings.Split(strings.TrimRight(s.String(), "\n"), "\n")
	if s.Rows > 1 && len(lines) > s.Rows-1 {
		cut := len(lines) - s.Rows + 2
		s.Reset()
		if err := c.Line(s, Cell{Text: fmt.Sprintf("%d more lines, which don't fit into the window", cut), Color: Dim}); err != nil {
			return err
		}
		lines = append(lines[:s.Rows-2], strings.TrimRight(s.String(), "\n"))
	}
	var out bytes.Buffer
	out.WriteString("\x1b[H")
	for _, l := range lines {
		out.WriteString(l + "\x1b[K\n")
	}
	out.WriteString("\x1b[J")
	_, err := terminal.Write(out.Bytes())
	return err
}
