// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"testing"
	"time"
)

func TestParseSizeNow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]int{
		"3 at 2026-11-20T10:00:00Z":           3,
		"3 at 2026-11-20T09:00:00Z":           3,
		"3 at 2026-11-20T11:00:00Z":           3,
		"1 at 2026-11-20T10:00:00.123456789Z": 1,
		"3 at 2026-11-20T08:59:59Z":           0,
		"3 at 2026-11-20T11:00:01Z":           0,
		"3 at 0001-01-01T00:00:00Z":           0,
		"3 at 9999-12-31T23:59:59Z":           0,
		"3":                                   0,
		"3 at noon":                           0,
		"at 2026-11-20T10:00:00Z":             0,
		"0 at 2026-11-20T10:00:00Z":           0,
		"-1 at 2026-11-20T10:00:00Z":          0,
		"":                                    0,
	} {
		n, ok := ParseSizeNow(text, now)
		if ok != (want > 0) || ok && n != want {
			t.Errorf("%q: %d, %t, want %d", text, n, ok, want)
		}
	}
}
