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
	// Pending is true if more members were seen than Read declares, since it was read: their pods are
	// about to stop. N then follows the members that are seen, until Read is an hour old.
	Pending bool
	// From is the size before the cluster grew, as long as members that joined it may be learners, and otherwise 0.
	From int
}

// Next returns what l becomes if the owner's annotation contains text and so many members are seen. A
// text that is not superseded sets the size when it changes, and while it is pending. One that is
// superseded only raises it.
func (l LargestSize) Next(text string, seen int, now time.Time) LargestSize {
	n, ok := ParseSize(text)
	_, fresh := ParseSizeNow(text, now)
	waits := l.Pending && fresh && text == l.Read
	if waits && seen == 0 {
		return l // a cluster that is stopped shows nothing of its voters
	}
	l.Pending = false
	before := l.N
	switch superseded := l.supersedes(text, now); {
	case waits, ok && !superseded && text != l.Read:
		l.N, l.Read, l.Pending = n, text, fresh && seen > n
	case superseded && ok:
		l.N = max(l.N, n)
	case !superseded && !ok:
		l.Read = ""
	}
	l.N = max(l.N, seen)
	return l.grown(before)
}

// grown returns l with the size before it grew. A size that nothing recorded has not grown.
func (l LargestSize) grown(before int) LargestSize {
	switch {
	case l.From >= l.N:
		l.From = 0
	case l.From == 0 && before < l.N:
		l.From = before
	}
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

// Of a recorded size, pendingSize follows the number if it is pending, and grownFrom is before the size from before it grew.
const (
	pendingSize = " pending"
	grownFrom   = " from "
)

// decodeSize reads a recorded size, with the text of the owner's annotation that was counted.
func decodeSize(text, read string) LargestSize {
	n, ok := ParseSize(text)
	if !ok {
		return LargestSize{}
	}
	l := LargestSize{N: n, Read: read, Pending: strings.HasSuffix(text, pendingSize)}
	_, before, _ := strings.Cut(text, grownFrom)
	if from, ok := ParseSize(before); ok && from < n {
		l.From = from
	}
	return l
}

// encode returns the number as it is recorded.
func (l LargestSize) encode() string {
	text := strconv.Itoa(l.N)
	if l.From > 0 {
		text += grownFrom + strconv.Itoa(l.From)
	}
	if l.Pending {
		text += pendingSize
	}
	return text
}
