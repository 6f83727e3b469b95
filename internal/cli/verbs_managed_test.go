// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
)

// TestManaged: a command that a cluster's manager forbids keeps the promises of the others: its flags and permissions are
// checked first.
func TestManaged(t *testing.T) {
	t.Parallel()
	for _, v := range []verb{
		{path: "scale", args: "statefulset/main --replicas 5"},
		{path: "member replace", args: "statefulset/main main-2 --force"},
		{path: "member add", args: "statefulset/main --peer-urls http://new.example.com:2380"},
	} {
		for _, row := range []struct {
			flags string
			deny  bool
			code  int
			want  string
		}{
			{flags: "-y --wait=false", code: 1, want: "--wait=false is not possible with this command"},
			{flags: "-y", deny: true, code: 1, want: `user "ann" lacks`},
			{flags: "-y", code: 2, want: "refused: cannot "},
			{flags: "--dry-run=client", deny: true, code: 2, want: "refused: cannot "},
		} {
			w := newWorld(t, verb{set: (*world).managed})
			if row.deny {
				w.Deny = func(string, string) bool { return true }
			}
			before := w.state()
			if code := w.run(t.Context(), v, strings.Fields(row.flags)...); code != row.code || !strings.Contains(w.err.String(), row.want) || w.state() != before {
				t.Errorf("%s %s, denied %t: exit code %d, want %d with %q:\n%s", v.name(), row.flags, row.deny, code, row.code, row.want, &w.err)
			}
		}
	}
}
