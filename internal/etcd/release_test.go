// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import "testing"

// TestOtherRelease: patch versions are of one release, and what is not known differs from nothing.
func TestOtherRelease(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		a, b string
		want bool
	}{
		{"3.5.0", "3.5.26", false},
		{"3.5.0", "3.6.1", true},
		{"3.5", "4.5.0", true},
		{"", "3.6.1", false},
		{"3.6.1", "latest", false},
	} {
		if got := OtherRelease(row.a, row.b); got != row.want {
			t.Errorf("%q and %q: %t, want %t", row.a, row.b, got, row.want)
		}
	}
}
