// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                                   "0s",
		1500 * time.Millisecond:             "1.5s",
		10 * time.Second:                    "10s",
		time.Minute:                         "1m",
		5*time.Minute + 10*time.Second:      "5m10s",
		time.Hour:                           "1h",
		10 * time.Hour:                      "10h",
		time.Hour + 30*time.Minute:          "1h30m",
		time.Hour + 10*time.Second:          "1h0m10s",
		30*time.Hour + 20*time.Minute + 1e9: "30h20m1s",
	} {
		got := policy.Duration(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%s is %q, want %q: %s, %v", d, got, want, back, err)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		n           int64
		long, short string
	}{
		{0, "0 B", ""},
		{999, "999 B", "999B"},
		{1000, "1000 B", "1.0K"},
		{1536, "1.5 KiB", "1.5K"},
		{54 << 20, "54.0 MiB", "54M"},
		{1000 << 20, "1000.0 MiB", "1.0G"},
		{8 << 30, "8.0 GiB", "8.0G"},
		{3 << 60, "3072.0 PiB", "3072P"},
	} {
		if long, short := policy.Bytes(row.n), policy.ShortBytes(row.n); long != row.long || short != row.short {
			t.Errorf("%d is %q and %q, want %q and %q", row.n, long, short, row.long, row.short)
		}
	}
}
