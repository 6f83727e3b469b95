// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package render writes the documents of api/output for people. Each exported function returns the
// text of one document, which the verb gives to Console.Print for -o table and -o wide.
//
// It reads no cluster and decides nothing: what a text depends on is in the document, or an argument.
// What belongs to a command stays in its verb, such as flags, questions and exit codes.
package render

import (
	"io"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// Text writes a document for people, with more columns if wide. Console.Print calls it.
type Text func(w io.Writer, wide bool) error

// onScreen returns a Text that draws on a screen with the size and colors of the stream.
func onScreen(c *ui.Console, draw func(s *ui.Screen, wide bool) error) Text {
	return func(w io.Writer, wide bool) error {
		screen := c.Screen(w)
		if err := draw(screen, wide); err != nil {
			return err
		}
		_, err := w.Write(screen.Bytes())
		return err
	}
}
