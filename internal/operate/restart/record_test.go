// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import "testing"

// TestContinuedBy checks which commands continue a restart, and that only its name continues one that stops all members.
func TestContinuedBy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		record   Record
		only     string
		strategy Strategy
		want     bool
	}{
		{"rolling", Record{Strategy: Rolling}, "", "", true},
		{"rolling by its name", Record{Strategy: Rolling}, "", Rolling, true},
		{"rolling by another name", Record{Strategy: Rolling}, "", Coordinated, false},
		{"one member", Record{Strategy: Rolling, Only: "main-1"}, "main-1", "", true},
		{"one member, not named", Record{Strategy: Rolling, Only: "main-1"}, "", "", true},
		{"another member", Record{Strategy: Rolling, Only: "main-1"}, "main-2", "", false},
		{"all, and one is named", Record{Strategy: Rolling}, "main-1", "", false},
		{"coordinated", Record{Strategy: Coordinated}, "", Coordinated, true},
		{"coordinated, not named", Record{Strategy: Coordinated}, "", "", false},
		{"coordinated by another name", Record{Strategy: Coordinated}, "", Rolling, false},
	} {
		if got := row.record.ContinuedBy(row.only, row.strategy); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
