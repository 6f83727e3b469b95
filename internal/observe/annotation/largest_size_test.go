// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// The plugin's texts, in their order, and one of a clock that is far ahead.
const (
	morning   = " at 2026-11-20T09:00:00Z"
	afternoon = " at 2026-11-20T12:30:00.5Z"
	nextYear  = " at 2027-11-20T12:00:00Z"
)

func TestLargestSize(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before LargestSize
		text   string
		seen   int
		want   LargestSize
	}{
		{"nothing known", LargestSize{}, "", 3, LargestSize{N: 3}},
		{"grows", LargestSize{N: 3}, "", 5, LargestSize{N: 5, From: 3}},
		{"grows again before it settled", LargestSize{N: 5, From: 3}, "", 7, LargestSize{N: 7, From: 3}},
		{"shrinks to the size from before it grew", LargestSize{N: 5, From: 3}, "3", 3, LargestSize{N: 3, Read: "3"}},
		{"fewer are seen", LargestSize{N: 5}, "", 3, LargestSize{N: 5}},
		{"the owner's annotation", LargestSize{N: 5}, "3", 3, LargestSize{N: 3, Read: "3"}},
		{"the same again", LargestSize{N: 5, Read: "3"}, "3", 3, LargestSize{N: 5, Read: "3"}},
		{"the same at another time", LargestSize{N: 5, Read: "3"}, "3 at noon", 3, LargestSize{N: 3, Read: "3 at noon"}},
		{"removed", LargestSize{N: 5, Read: "3"}, "", 3, LargestSize{N: 5}},
		{"less than is seen", LargestSize{N: 5}, "1", 3, LargestSize{N: 3, Read: "1"}},
		{"more than is seen", LargestSize{N: 3}, "5", 3, LargestSize{N: 5, Read: "5", From: 3}},
		{"nonsense", LargestSize{N: 5}, "three", 3, LargestSize{N: 5}},
		{"none", LargestSize{N: 5}, "0", 3, LargestSize{N: 5}},
		{"an old manifest without a time", LargestSize{N: 5, Read: "5" + morning}, "3", 3, LargestSize{N: 5, Read: "5" + morning}},
		{"an old manifest with a time", LargestSize{N: 5, Read: "5" + afternoon}, "3" + morning, 3, LargestSize{N: 5, Read: "5" + afternoon}},
		{"a later one", LargestSize{N: 5, Read: "5" + morning}, "3" + afternoon, 3, LargestSize{N: 3, Read: "3" + afternoon}},
		{"a time after one without", LargestSize{N: 5, Read: "5"}, "3" + morning, 3, LargestSize{N: 3, Read: "3" + morning}},
		{"an old manifest of more", LargestSize{N: 3, Read: "3" + morning}, "5", 3, LargestSize{N: 5, Read: "3" + morning, From: 3}},
		{"removed after one with a time", LargestSize{N: 5, Read: "5" + morning}, "", 3, LargestSize{N: 5, Read: "5" + morning}},
		{"nonsense after one with a time", LargestSize{N: 5, Read: "5" + morning}, "x" + afternoon, 3, LargestSize{N: 5, Read: "5" + morning}},
		{"a clock that is far ahead", LargestSize{N: 5, Read: "5" + nextYear}, "3" + morning, 3, LargestSize{N: 3, Read: "3" + morning}},
		{"after a clock that is far ahead", LargestSize{N: 5, Read: "5" + morning}, "3" + nextYear, 3, LargestSize{N: 5, Read: "5" + morning}},
		{"pods that are about to stop", LargestSize{N: 5}, "3" + afternoon, 5, LargestSize{N: 5, Read: "3" + afternoon, Pending: true}},
		{"one of them has stopped", LargestSize{N: 5, Read: "3" + afternoon, Pending: true}, "3" + afternoon, 4, LargestSize{N: 4, Read: "3" + afternoon, Pending: true}},
		{"all of them have stopped", LargestSize{N: 4, Read: "3" + afternoon, Pending: true}, "3" + afternoon, 3, LargestSize{N: 3, Read: "3" + afternoon}},
		{"it grows after they have stopped", LargestSize{N: 3, Read: "3" + afternoon}, "3" + afternoon, 5, LargestSize{N: 5, Read: "3" + afternoon, From: 3}},
		{"they stop after an hour", LargestSize{N: 5, Read: "3" + morning, Pending: true}, "3" + morning, 3, LargestSize{N: 5, Read: "3" + morning}},
		{"an old text while they stop", LargestSize{N: 5, Read: "3" + afternoon, Pending: true}, "1" + morning, 3, LargestSize{N: 5, Read: "3" + afternoon}},
		{"a text without a time never waits", LargestSize{N: 5}, "3", 5, LargestSize{N: 5, Read: "3"}},
		{"too many", LargestSize{N: 5}, "1000000", 3, LargestSize{N: 5}},
	} {
		if got := row.before.Next(row.text, row.seen, noon); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

// TestOldTextLowersNothing tries every sequence of up to five texts after a cluster of five was seen. The
// size falls only by a text that is newer than the last one that counted. A naive count shows which
// texts these are.
func TestOldTextLowersNothing(t *testing.T) {
	t.Parallel()
	texts := []string{"", "1", "3", "5", "3 again", "x" + afternoon, "3" + morning, "5" + morning, "3" + afternoon, "1" + afternoon, "3" + nextYear}
	order := func(text string) int {
		return 1 + strings.Index(morning+afternoon, text[strings.IndexByte(text+" ", ' '):])
	}
	var walk func(l LargestSize, last int, read []string)
	walk = func(l LargestSize, last int, read []string) {
		for _, text := range texts {
			next, at := l.Next(text, 0, noon), 0
			if strings.HasSuffix(text, morning) || strings.HasSuffix(text, afternoon) {
				at = order(text)
			}
			path := append(slices.Clip(read), text)
			if next.N < l.N && at <= last && last > 0 {
				t.Fatalf("%q: %+v after %+v", path, next, l)
			}
			if n, ok := ParseSize(text); ok && at > last && next.N != n {
				t.Fatalf("%q: %+v, and the last text is the newest", path, next)
			}
			if _, ok := ParseSize(text); ok {
				at = max(at, last)
			} else {
				at = last
			}
			if len(path) < 5 {
				walk(next, at, path)
			}
		}
	}
	walk(LargestSize{N: 5}, 0, nil)
}

// TestDeclaredWhilePodsStop tries every course of up to six readings after a size of five was recorded and
// "3" was declared in the same hour. While five or four are seen, they count. The declaration counts as
// soon as only three are seen within the hour, or at once if the cluster is stopped when it is made. It
// never lowers what was seen after that.
func TestDeclaredWhilePodsStop(t *testing.T) {
	t.Parallel()
	text, start := "3"+afternoon, noon.Add(30*time.Minute)
	var walk func(l LargestSize, waits bool, highest int, at time.Time, read []int)
	walk = func(l LargestSize, waits bool, highest int, at time.Time, read []int) {
		for _, seen := range []int{0, 3, 4, 5} {
			next, path := l.Next(text, seen, at), append(slices.Clip(read), seen)
			fresh := at.Sub(start) < time.Hour
			want := max(highest, seen)
			first := len(read) == 0
			if waits && fresh && (first || seen > 0) {
				want = max(3, seen)
			}
			if next.N != want || decodeSize(next.encode(), next.Read) != next {
				t.Fatalf("%v: %+v, want %d", path, next, want)
			}
			if len(path) < 6 {
				walk(next, waits && fresh && seen != 3 && (seen > 0 || !first), want, at.Add(25*time.Minute), path)
			}
		}
	}
	walk(LargestSize{N: 5}, true, 5, start, nil)
}
