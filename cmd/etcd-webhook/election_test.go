// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// TestElectionTimes checks that another replica leads within 10 s of a crash and within 3 s of a
// clean stop, and that a leader stops before another one may lead.
func TestElectionTimes(t *testing.T) {
	t.Parallel()
	poll := time.Duration((1 + leaderelection.JitterFactor) * retryPeriod.Seconds() * float64(time.Second))
	if crash := leaseDuration + 2*poll; crash > 10*time.Second {
		t.Errorf("after a crash there is no leader for %s", crash)
	}
	if poll > 3*time.Second {
		t.Errorf("after a clean stop there is no leader for %s", poll)
	}
	// The leader renews retryPeriod after the last renewal. A release without an answer takes as
	// long as each of its requests: half of renewDeadline.
	if over := retryPeriod + renewDeadline + renewDeadline/2; over >= leaseDuration || renewDeadline <= poll {
		t.Errorf("a leader stops after %s, its lease lasts %s, and it retries every %s", over, leaseDuration, poll)
	}
}
