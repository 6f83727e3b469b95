// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package format formats times, Events and lines for messages and tables.
package format

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Time returns a moment to the second, in UTC, as Kubernetes' own objects have it: what several machines and kubectl
// print can be compared.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) } //nolint:forbidigo // the one layout of messages

// Since returns an age as kubectl shows it. Another machine's clock may be ahead.
func Since(now, then time.Time) string { return duration.HumanDuration(max(0, now.Sub(then))) }

// Age returns a duration in its two largest units, and without its sign.
func Age(d time.Duration) string {
	d = d.Abs()
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}
