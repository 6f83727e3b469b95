// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package ui prints for people: tables, pages, progress, warnings and help texts. It also adds flags
// for output.
package ui

import (
	"io"
	"os"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Console has the streams of a command and the value of --color. Data goes to Out, messages for
// people go to ErrOut.
type Console struct {
	genericiooptions.IOStreams

	Color ColorMode
	// Given returns the flags that printed commands need. It may be nil.
	Given func() Given
}

// NewConsole returns a Console with --color auto.
func NewConsole(streams genericiooptions.IOStreams) *Console {
	return &Console{IOStreams: streams, Color: colorAuto}
}

// Terminal returns the file descriptor of a terminal. It returns false for a file, a pipe or a
// buffer.
func Terminal(stream any) (fd int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// Width returns the number of columns of a terminal, or 0 for other streams. Output to a file
// or a pipe is never shortened.
func Width(w io.Writer) int {
	if screen, ok := w.(*Screen); ok {
		return screen.Columns
	}
	fd, ok := Terminal(w)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(fd)
	if err != nil {
		return 80
	}
	return columns
}
