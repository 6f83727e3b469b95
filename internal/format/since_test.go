// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                              "0ms",
		40 * time.Millisecond:          "40ms",
		59 * time.Second:               "59s",
		-5*time.Minute - 3*time.Second: "5m03s",
		2*time.Hour + 3*time.Minute:    "2h03m",
		47 * time.Hour:                 "47h00m",
		49 * time.Hour:                 "2 days",
	} {
		if got := format.Age(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// TestTime: a moment is written in UTC, whatever zone it was recorded in.
func TestTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 1, 2, 3, 0, time.FixedZone("CET", 3600))
	if got, want := format.Time(at), "2026-11-20T00:02:03Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
