// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestEventNeedsReason checks that no Event is written without a reason. The nil client would
// panic.
func TestEventNeedsReason(t *testing.T) {
	t.Parallel()
	if err := Announce(t.Context(), nil, owner.Owner{}, policy.Reason{}, "it happened"); err == nil {
		t.Error("an Event without a reason is written")
	}
}
