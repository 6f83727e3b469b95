// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strconv"
	"strings"
	"time"
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

// Next returns what l becomes if the owner's annotation contains text and so many members are seen. A
// text that is not superseded sets the size when it changes. One that is superseded only raises it.
func (l LargestSize) Next(text string, seen int, now time.Time) LargestSize {
	n, ok := ParseSize(text)
	switch superseded := l.supersedes(text, now); {
	case superseded && ok:
		l.N = max(l.N, n)
	case superseded: // what was read last still counts
	case !ok:
		l.Read = ""
	case text != l.Read:
		l.N, l.Read = n, text
	}
	l.N = max(l.N, seen)
	return l
}

// supersedes reports whether the text that was counted last is newer than text: it has a time, and text
// has an earlier one, none, or no number. Clients apply manifests that were saved before.
func (l LargestSize) supersedes(text string, now time.Time) bool {
	last, dated := sizeTimeBy(l.Read, now)
	if !dated {
		return false
	}
	_, ok := ParseSize(text)
	at, dated := sizeTimeBy(text, now)
	return !ok || !dated || !at.After(last)
}

// ParseSize reads a size annotation: a number, and anything after a space. False for
// anything else.
func ParseSize(text string) (int, bool) {
	digits, _, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && n <= mostMembers
}
