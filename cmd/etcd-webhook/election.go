// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "time"

// How fast another replica leads. Each replica looks at the lease every
// retryPeriod, or up to 2.2 times that: so a crash is over after at most
// leaseDuration + 2 x 2.2 x retryPeriod = 9.3 s, and a clean stop, which gives the
// lease back, 1.7 s after it did. docs/install.md has what was measured.
//
// A leader that can't renew for renewDeadline ends its program and is started
// anew. That is how long an API server may be away without one.
const (
	leaseDuration = 6 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = 750 * time.Millisecond
)
