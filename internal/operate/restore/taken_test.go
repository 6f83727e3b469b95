// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"
	"time"
)

// TestTaken: the plan has when a snapshot was taken, or that this is not known.
func TestTaken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 15, 20, 0, 0, time.UTC)
	const named, unknown = "was taken at 2026-11-20T13:20:00Z, 120m ago, as its name has it", "it is not known when it was taken"
	for _, row := range []struct {
		name, file, given string
		taken, written    time.Time
		want              string
	}{
		{name: "record", file: "main.db", taken: now.Add(-2 * time.Hour), written: now, want: "was taken at 2026-11-20T13:20:00Z, 120m ago"},
		{name: "record and name", file: "Full-00000000-00000039-1.db", taken: now.Add(-2 * time.Hour), want: "was taken at 2026-11-20T13:20:00Z, 120m ago"},
		{name: "backup-restore", file: "/tmp/Full-00000000-00000039-1795180800", written: now, want: named},
		{name: "compressed", file: "/tmp/Full-00000000-00000039-1795180800.gz", want: named},
		{name: "a URL", file: "/tmp/copy/x", given: "s3://bucket/main/v2/Full-00000000-00000039-1795180800.final?region=eu", want: named},
		{name: "no time in the name", file: "Full-00000000-00000039-1", want: unknown},
		{name: "another name", file: "NotFull-00000000-00000039-1795180800", want: unknown},
		{name: "etcdctl", file: "main.db", written: now.Add(-3 * time.Hour), want: unknown + ": the file was last written at 2026-11-20T12:20:00Z, 3h ago"},
		{name: "a copy", file: "/tmp/copy/main.db", given: "s3://bucket/main.db", written: now, want: unknown},
		{name: "stdin", file: "/tmp/copy/stdin.db", given: "-", written: now, want: unknown},
	} {
		r := plainRestore()
		r.At, r.File, r.Given, r.Origin.Taken, r.Snapshot.Modified = now, row.file, row.given, row.taken, row.written
		if got := r.snapshotFacts()[0]; !strings.HasSuffix(got, ", and "+row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
