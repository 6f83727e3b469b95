// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package write

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestAnswered checks which errors are answers of the API server.
func TestAnswered(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		err  error
		want bool
	}{
		{"denied", fmt.Errorf("patch: %w", apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), "etcd", errors.New("no"))), true},
		{"a fault of the API server", apierrors.NewInternalError(errors.New("etcd")), true},
		{"the connection ended", fmt.Errorf("patch: %w", io.ErrUnexpectedEOF), false},
		{"timed out", context.DeadlineExceeded, false},
	} {
		if got := Answered(row.err); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}
