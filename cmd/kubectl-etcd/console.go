// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// console is the streams of a command and whether they are coloured. Data goes to
// Out; messages for people go to ErrOut.
type console struct {
	genericiooptions.IOStreams

	color colorMode
}

func newConsole(streams genericiooptions.IOStreams) *console {
	return &console{IOStreams: streams, color: colorAuto}
}

// terminal is the stream as a terminal, false for a file, a pipe or a test's buffer.
func terminal(stream any) (fd int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// width is the terminal's in columns, 0 for a stream that is none: nothing is
// shortened for a file or a pipe.
func width(w io.Writer) int {
	if c, ok := w.(*canvas); ok {
		return c.columns
	}
	fd, ok := terminal(w)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(fd)
	if err != nil {
		return 80
	}
	return columns
}
