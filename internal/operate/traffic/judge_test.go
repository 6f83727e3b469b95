// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"testing"
	"time"
)

func TestAheadBy(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name      string
		now, took time.Duration
		want      time.Duration
	}{
		{"the same", 0, time.Second, 0},
		{"whole seconds", -time.Second, time.Second, 0},
		{"the same, after a slow answer", 20 * time.Second, 30 * time.Second, 0},
		{"ahead", 50 * time.Second, time.Second, 49 * time.Second},
		{"ahead, after a slow answer", 50 * time.Second, 30 * time.Second, 20 * time.Second},
		{"behind", -time.Minute, 30 * time.Second, -time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := clockOffset(asked.Add(row.now), asked, asked.Add(row.took)); got != row.want {
				t.Errorf("ahead by %s, want %s", got, row.want)
			}
		})
	}
}
