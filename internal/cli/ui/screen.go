// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"io"

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
