// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "testing"

// TestDeclareListed has the commands for a cluster with a known target, and the placeholders for any other.
func TestDeclareListed(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Cluster{
		`if etcd has N voters, as kubectl etcd member list statefulset/db -n team shows, run: kubectl annotate --overwrite statefulset/db -n team kubectl-etcd.dev/size="N at $(date -u +%FT%TZ)"`: {
			Namespace: "team", Name: "db", Target: "statefulset/db",
		},
		`if etcd has N voters, as kubectl etcd member list NAME -n NAMESPACE shows, set the annotation kubectl-etcd.dev/size of its owner to "N at TIME", with the current time, as in 2026-01-31T12:00:00Z`: {},
	} {
		if got := c.DeclareListed(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
