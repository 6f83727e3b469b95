// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Eviction is an eviction that was admitted, as the annotation of a budget or of a StatefulSet has it.
type Eviction struct {
	Pod string
	// UID is of the pod that was evicted. A pod that was created again has another one.
	UID types.UID
	At  time.Time
}

// ParseEvictions reads the annotation. Anyone may edit annotations, so an invalid entry counts
// as absent, and more entries than members that a cluster has are not read. A time is that of the
// clock that wrote it, which may be ahead of the reader's.
func ParseEvictions(text string) []Eviction {
	var out []Eviction
	for entry := range strings.SplitSeq(text, ",") {
		pod, rest, found := strings.Cut(entry, "=")
		uid, at, timed := strings.Cut(rest, "@")
		t, err := time.Parse(time.RFC3339, at)
		if !found || !timed || err != nil || pod == "" || uid == "" {
			continue
		}
		if out = append(out, Eviction{Pod: pod, UID: types.UID(uid), At: t}); len(out) == mostMembers {
			break
		}
	}
	return out
}

// FormatEvictions returns the text of the annotation. Times are truncated to seconds.
func FormatEvictions(evictions []Eviction) string {
	entries := make([]string, 0, len(evictions))
	for _, e := range evictions {
		entries = append(entries, e.Pod+"="+string(e.UID)+"@"+e.At.UTC().Format(time.RFC3339))
	}
	return strings.Join(entries, ",")
}
