// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "time"

// How fast another replica leads. Each replica looks at the lease every
// retryPeriod, or up to 2.2 times that: so a crash is over after at most
// leaseDuration + 2 x 2.2 x retryPeriod = 9.3 s, and a clean stop, which gives the
// lease back, 1.7 s after it did. docs/install.md has what was measured.
//
// A leader that can't renew for renewDeadline stops leading: that is how long an API
// server may be away without one. Before it stops it tries to give the lease back, for
// half as long again, and all that has to be over before another may lead.
const (
	leaseDuration = 6 * time.Second
	renewDeadline = 3400 * time.Millisecond
	retryPeriod   = 750 * time.Millisecond
)
