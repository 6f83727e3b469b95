// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func TestCaughtUpTo(t *testing.T) {
	t.Parallel()
	for index, want := range map[uint64]bool{0: true, 50: true, 50 + policy.LagLimit: true, 51 + policy.LagLimit: false} {
		if got := (Member{RaftApplied: 50}).CaughtUpTo(index); got != want {
			t.Errorf("a member that has applied 50: caught up to %d is %v, want %v", index, got, want)
		}
	}
}
