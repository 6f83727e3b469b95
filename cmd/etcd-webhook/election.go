// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "time"

// These times decide how soon another replica leads. Each replica reads the lease every
// retryPeriod to 2.2 x retryPeriod. After a crash another one leads within
// leaseDuration + 2 x 2.2 x retryPeriod = 9.3 s. After a clean stop, which releases the
// lease, it does so within 1.7 s. docs/install.md has measurements.
//
// A leader that can't renew the lease for renewDeadline stops leading, so that is how long
// an API server may be unavailable. The leader then tries to release the lease for half as
// long. Both must be over before another replica may lead.
const (
	leaseDuration = 6 * time.Second
	renewDeadline = 3400 * time.Millisecond
	retryPeriod   = 750 * time.Millisecond
)
