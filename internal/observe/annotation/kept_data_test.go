// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"testing"
	"time"
)

// TestKeptData: what is written is read again, and nothing else is.
func TestKeptData(t *testing.T) {
	t.Parallel()
	for text, entries := range map[string]int{
		"":                0,
		"20261127T024000": 1,
		"20261127T024000 until=2026-12-04T02:40:00Z, 20261120T000000 volumes":        2,
		"20261127T024000 volumes until=2026-12-04T02:40:00Z":                         1,
		"../../etc, 20261127T024000/x, 20261127T024000 until=never, 20261127T0240 x": 0,
	} {
		kept := ParseKeptData(text)
		if len(kept) != entries || entries > 0 && FormatKeptData(kept) != text {
			t.Errorf("%q is %+v, and %q again", text, kept, FormatKeptData(kept))
		}
	}
	at := time.Date(2026, 11, 27, 2, 40, 0, 0, time.UTC)
	one := KeptData{At: at}
	two := KeptData{At: at, Until: at.Add(time.Hour)}
	if all := WithKeptData(WithKeptData(nil, one), two); len(all) != 1 || all[0] != two {
		t.Errorf("the entry of the same restore is not replaced: %+v", all)
	}
	if one.Due(at.Add(1000*time.Hour)) || two.Due(at.Add(time.Hour-1)) || !two.Due(at.Add(time.Hour)) {
		t.Error("due is not at the deadline")
	}
}
