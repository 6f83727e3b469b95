// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"

	"golang.org/x/term"
)

// canvas holds what is to go to a stream in one piece, and says of itself what
// is true of that stream.
type canvas struct {
	bytes.Buffer

	// columns and rows are a terminal's, 0 for none.
	columns, rows int
	colored       bool
}

// canvas is an empty one for a stream.
func (e *console) canvas(w io.Writer) *canvas {
	c := &canvas{columns: width(w), colored: e.paints(w)}
	if fd, ok := terminal(w); ok {
		if _, rows, err := term.GetSize(fd); err == nil {
			c.rows = rows
		}
	}
	return c
}
