// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "io"

// HelpWidth is what help wraps at where the terminal isn't known or is wider.
const HelpWidth = 80

// Columns is the width that help has on a stream.
func Columns(w io.Writer) int {
	if c := Width(w); c > 0 {
		return min(c, HelpWidth)
	}
	return HelpWidth
}
