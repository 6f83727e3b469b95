// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestEvenSize: an even number of members has a judgement, an odd one and 0 have none.
func TestEvenSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{-2: "", 0: "", 1: "", 2: "2 members tolerate no more failures than 1", 3: "", 6: "6 members tolerate no more failures than 5", 7: ""} {
		if got := policy.EvenSize(n, "members"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
