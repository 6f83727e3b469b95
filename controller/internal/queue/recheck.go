// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package queue

import "time"

// Recheck is how often a rollout that is held, or a restart that waits, is decided again. Leases, conditions, evictions
// and policies may change without a change of the StatefulSet.
const Recheck = 3 * time.Second
