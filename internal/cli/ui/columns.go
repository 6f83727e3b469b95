// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "io"

// HelpWidth is the greatest width of help texts, and their width without a terminal.
const HelpWidth = 80

// Columns returns the width of help texts on a stream.
func Columns(w io.Writer) int {
	if c := Width(w); c > 0 {
		return min(c, HelpWidth)
	}
	return HelpWidth
}
