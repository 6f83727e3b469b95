// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// TestNobodyLeadsForLong: by its times another replica leads within 10 s of a crash and
// within 3 s of a clean stop, and a leader gives up before another may follow it.
func TestNobodyLeadsForLong(t *testing.T) {
	t.Parallel()
	look := time.Duration((1 + leaderelection.JitterFactor) * retryPeriod.Seconds() * float64(time.Second))
	if crash := leaseDuration + 2*look; crash > 10*time.Second {
		t.Errorf("after a crash nobody leads for %s", crash)
	}
	if look > 3*time.Second {
		t.Errorf("after a clean stop nobody leads for %s", look)
	}
	// It begins to renew retryPeriod after it did, and a release that nobody answers takes
	// as long as any of its requests: half of renewDeadline.
	if over := retryPeriod + renewDeadline + renewDeadline/2; over >= leaseDuration || renewDeadline <= look {
		t.Errorf("a leader has given up after %s, of %s that its lease lasts, and tries every %s", over, leaseDuration, look)
	}
}
