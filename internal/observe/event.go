// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventsShown is how many warnings a screen has room for.
const EventsShown = 5

// EventTime is when an event last happened and how often: the two APIs of events
// keep them in different fields.
func EventTime(e *corev1.Event) (time.Time, int32) {
	last, count := e.LastTimestamp.Time, e.Count
	if e.Series != nil {
		last, count = e.Series.LastObservedTime.Time, e.Series.Count
	}
	if last.IsZero() {
		last = e.EventTime.Time
	}
	if last.IsZero() {
		last = e.CreationTimestamp.Time
	}
	return last, max(1, count)
}
