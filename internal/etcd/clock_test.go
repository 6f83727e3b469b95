// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"testing"
	"time"
)

func TestClockReading(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const date = "Fri, 20 Nov 2026 12:00:00 GMT"
	ms := time.Millisecond
	for _, row := range []struct {
		name       string
		date       string
		sent, came time.Time
		want       ClockReading
		fails      bool
	}{
		{name: "in the middle of the same second", date: date, sent: noon.Add(400 * ms), came: noon.Add(420 * ms), want: ClockReading{-420 * ms, 600 * ms}},
		{name: "at the second's end", date: date, sent: noon.Add(980 * ms), came: noon.Add(999 * ms), want: ClockReading{-999 * ms, 20 * ms}},
		{name: "ours a minute behind", date: date, sent: noon.Add(-time.Minute), came: noon.Add(-time.Minute), want: ClockReading{time.Minute, time.Minute + time.Second}},
		{name: "a slow answer", date: date, sent: noon.Add(-3 * time.Second), came: noon.Add(2 * time.Second), want: ClockReading{-2 * time.Second, 4 * time.Second}},
		{name: "no date", date: "", fails: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := clockReading(row.date, row.sent, row.came)
			if (err != nil) != row.fails || got != row.want {
				t.Errorf("got %+v, %v; want %+v", got, err, row.want)
			}
		})
	}
}
