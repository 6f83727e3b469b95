// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"io"
	"os"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Console is the streams of a command and whether they are coloured. Data goes to
// Out; messages for people go to ErrOut.
type Console struct {
	genericiooptions.IOStreams

	Color ColorMode
}

func NewConsole(streams genericiooptions.IOStreams) *Console {
	return &Console{IOStreams: streams, Color: colorAuto}
}

// Terminal is the stream as a Terminal, false for a file, a pipe or a test's buffer.
func Terminal(stream any) (fd int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// Width is the terminal's in columns, 0 for a stream that is none: nothing is
// shortened for a file or a pipe.
func Width(w io.Writer) int {
	if c, ok := w.(*Screen); ok {
		return c.Columns
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
