// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestPermanent: an error that a retry doesn't help ends an operation at once; others are retried.
func TestPermanent(t *testing.T) {
	t.Parallel()
	sets := schema.GroupResource{Group: "apps", Resource: "statefulsets"}
	for err, want := range map[error]bool{
		rpctypes.ErrPermissionDenied:                                 true,
		rpctypes.ErrUserEmpty:                                        true,
		apierrors.NewForbidden(sets, "main", errors.New("no right")): true,
		rpctypes.ErrUnhealthy:                                        false,
		rpctypes.ErrTooManyLearners:                                  false,
		rpctypes.ErrNoLeader:                                         false,
		apierrors.NewConflict(sets, "main", errors.New("changed")):   false,
	} {
		if got := permanent(fmt.Errorf("add main-3: %w", err)); got != want {
			t.Errorf("%v: hopeless %v, want %v", err, got, want)
		}
	}
}
