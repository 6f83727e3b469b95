// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"io"

	"golang.org/x/term"
)

// Screen holds what is to go to a stream in one piece, and says of itself what
// is true of that stream.
type Screen struct {
	bytes.Buffer

	// Columns and Rows are a terminal's, 0 for none.
	Columns, Rows int
	colored       bool
}

// Screen is an empty one for a stream.
func (c *Console) Screen(w io.Writer) *Screen {
	s := &Screen{Columns: Width(w), colored: c.Paints(w)}
	if fd, ok := Terminal(w); ok {
		if _, rows, err := term.GetSize(fd); err == nil {
			s.Rows = rows
		}
	}
	return s
}
