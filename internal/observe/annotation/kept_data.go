// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"slices"
	"strings"
	"time"
)

// KeptData is old data that a restore of a cluster keeps, as an annotation of its owner records it.
type KeptData struct {
	// At is when the plan of the restore was made. The names of files and the annotations of volumes
	// contain it.
	At time.Time
	// Until is the deadline after which a user wants it removed, zero for none.
	Until time.Time
	// Volumes reports whether the restore also keeps volumes whose claims it has deleted.
	Volumes bool
}

const (
	// keptStamp is the form of At in the names of files.
	keptStamp = "20060102T150405"
	// mostKept is how many entries are read.
	mostKept = 32
)

// Stamp returns the time of the restore, as in names of files.
func (k KeptData) Stamp() string { return k.At.UTC().Format(keptStamp) }

// Due reports whether the deadline has passed.
func (k KeptData) Due(now time.Time) bool { return !k.Until.IsZero() && !now.Before(k.Until) }

// ParseKeptData reads the annotation: "20261127T024000 volumes until=2026-12-04T02:40:00Z, …". Anyone may edit
// annotations, so an invalid entry counts as absent.
func ParseKeptData(text string) []KeptData {
	var out []KeptData
	for entry := range strings.SplitSeq(text, ",") {
		k, ok := parseKept(strings.Fields(entry))
		if ok && len(out) < mostKept {
			out = append(out, k)
		}
	}
	return out
}

func parseKept(fields []string) (k KeptData, ok bool) {
	if len(fields) == 0 {
		return k, false
	}
	var err error
	if k.At, err = time.Parse(keptStamp, fields[0]); err != nil {
		return k, false
	}
	for _, field := range fields[1:] {
		until, dated := strings.CutPrefix(field, "until=")
		switch {
		case field == "volumes":
			k.Volumes = true
		case dated:
			if k.Until, err = time.Parse(time.RFC3339, until); err != nil {
				return k, false
			}
		default:
			return k, false
		}
	}
	return k, true
}

// FormatKeptData returns the text of the annotation, empty for no entry.
func FormatKeptData(kept []KeptData) string {
	var entries []string
	for _, k := range kept {
		entry := k.Stamp()
		if k.Volumes {
			entry += " volumes"
		}
		if !k.Until.IsZero() {
			entry += " until=" + k.Until.UTC().Format(time.RFC3339)
		}
		entries = append(entries, entry)
	}
	return strings.Join(entries, ", ")
}

// WithKeptData returns the entries with one more. An entry of the same restore is replaced.
func WithKeptData(kept []KeptData, more KeptData) []KeptData {
	return append(WithoutKeptData(kept, more.Stamp()), more)
}

// WithoutKeptData returns the entries of other restores.
func WithoutKeptData(kept []KeptData, stamps ...string) []KeptData {
	return slices.DeleteFunc(slices.Clone(kept), func(k KeptData) bool { return slices.Contains(stamps, k.Stamp()) })
}
