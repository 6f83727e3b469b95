// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strconv"
	"strings"
)

// mostMembers is more than any cluster has. A size annotation above it is not read.
const mostMembers = 99

// LargestSize is the largest size that a cluster has had, and what its owner's annotation
// contained last. The zero LargestSize is not known.
type LargestSize struct {
	N int
	// Read is the text of the owner's annotation that was counted. The same text counts
	// only once: a cluster that grows later has outgrown it.
	Read string
}

// Next returns the largest size after as many members were seen. text is the owner's annotation.
func (l LargestSize) Next(text string, seen int) LargestSize {
	n, ok := ParseSize(text)
	switch {
	case !ok:
		l.Read = ""
	case text != l.Read:
		l.N, l.Read = n, text
	}
	l.N = max(l.N, seen)
	return l
}

// ParseSize reads a size annotation: a number, and anything after a space. False for
// anything else.
func ParseSize(text string) (int, bool) {
	digits, _, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && n <= mostMembers
}
