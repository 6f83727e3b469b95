// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package format formats times, Events and lines for messages and tables.
package format

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Since is an age as kubectl shows it. Another machine's clock may be ahead.
func Since(now, then time.Time) string { return duration.HumanDuration(max(0, now.Sub(then))) }
