// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventsShown is the largest number of Events that a command prints.
const EventsShown = 5

// maxNote is the maximum length of an Event's note in bytes. The API server rejects longer ones.
const maxNote = 1024

// Note returns a text that an Event can have as its note.
func Note(text string) string { return Truncate(text, maxNote) }

// EventTime returns when an Event last happened, and how often. The two APIs of Events have
// them in different fields.
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
