// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strings"
	"time"
)

// sizeLimit is how far the time in a size annotation may be from the reader's clock. Clocks of
// operators' machines differ by less, and a manifest that was saved earlier is older.
const sizeLimit = time.Hour

// ParseSizeNow reads a size annotation that a write has just set: "3 at 2026-11-20T10:00:00Z". It
// returns false for one without a time, or with one that is not of this hour.
func ParseSizeNow(text string, now time.Time) (int, bool) {
	n, ok := ParseSize(text)
	at, dated := SizeTime(text)
	if !ok || !dated {
		return 0, false
	}
	return n, at.Sub(now).Abs() <= sizeLimit
}

// sizeTimeBy returns the time in a size annotation as SizeTime does. A time that a clock can't show now
// counts as none: it would supersede every other until then.
func sizeTimeBy(text string, now time.Time) (time.Time, bool) {
	at, dated := SizeTime(text)
	return at, dated && at.Sub(now) <= sizeLimit
}

// Ahead reports whether text does not count yet because its time is one that no clock can show now.
func (l LargestSize) Ahead(text string, now time.Time) bool {
	_, ok := ParseSize(text)
	_, dated := SizeTime(text)
	_, counts := sizeTimeBy(text, now)
	return ok && dated && !counts && text != l.Read
}

// SizeTime returns the time in a size annotation. It returns false for one without a time.
func SizeTime(text string) (time.Time, bool) {
	_, stamp, dated := strings.Cut(text, " at ")
	at, err := time.Parse(time.RFC3339, stamp)
	return at, dated && err == nil
}
