// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"strings"
	"testing"
	"time"
)

func TestMinority(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pod, groups, unknown, want string
	}{
		{"all the same", "a-0", "a-0 a-1 a-2", "", ""},
		{"the one that differs", "a-2", "a-0 a-1/a-2", "", "a-0 a-1"},
		{"one of the others", "a-1", "a-0 a-1/a-2", "", ""},
		{"named first", "a-0", "a-0/a-1 a-2", "", "a-1 a-2"},
		{"no majority", "a-1", "a-0/a-1/a-2", "", ""},
		{"one against one", "a-1", "a-0/a-1", "", ""},
		{"half of four", "a-0", "a-0 a-1/a-2/a-3", "", ""},
		{"half of four, the other side", "a-3", "a-0 a-1/a-2/a-3", "", ""},
		{"one not seen", "a-2", "a-0 a-1/a-2", "a-3: needs root", ""},
		{"no voter asked", "a-0", "", "", ""},
	} {
		data := Comparison{Unknown: c.unknown}
		for group := range strings.SplitSeq(c.groups, "/") {
			if group != "" {
				data.Groups = append(data.Groups, strings.Fields(group))
			}
		}
		if got := strings.Join(data.Minority(c.pod), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestOldestVolume: only a volume that is clearly older than each of the others, all of which are known, is the oldest.
func TestOldestVolume(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		minutes map[string]int // how old each volume is
		others  []string
		want    bool
	}{
		{"the others are younger", map[string]int{"main-2": 60, "main-0": 2, "main-1": 3}, []string{"main-0", "main-1"}, true},
		{"all are as old", map[string]int{"main-2": 60, "main-0": 60, "main-1": 60}, []string{"main-0", "main-1"}, false},
		{"created one after the other", map[string]int{"main-2": 60, "main-0": 57, "main-1": 56}, []string{"main-0", "main-1"}, false},
		{"one of the others is as old", map[string]int{"main-2": 60, "main-0": 60, "main-1": 3}, []string{"main-0", "main-1"}, false},
		{"it is the youngest", map[string]int{"main-2": 2, "main-0": 60, "main-1": 60}, []string{"main-0", "main-1"}, false},
		{"its own is unknown", map[string]int{"main-0": 2, "main-1": 3}, []string{"main-0", "main-1"}, false},
		{"one of the others is unknown", map[string]int{"main-2": 60, "main-0": 2}, []string{"main-0", "main-1"}, false},
		{"no others", map[string]int{"main-2": 60}, nil, false},
	} {
		created := func(pod string) (time.Time, bool) {
			minutes, known := row.minutes[pod]
			return time.Unix(0, 0).Add(-time.Duration(minutes) * time.Minute), known
		}
		if got := OldestVolume("main-2", row.others, created); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
