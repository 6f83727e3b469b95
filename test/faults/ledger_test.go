// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"slices"
	"testing"
)

// TestLedger checks that only acknowledged writes have to be there, with their values.
func TestLedger(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	for n, err := range []error{nil, errors.New("timed out"), nil, nil} {
		l.record(n, err)
	}
	stored := map[string]string{key(0): "0", key(1): "1", key(2): "2", key(3): "7"}
	if lost := l.missing(stored); !slices.Equal(lost, []string{key(3)}) {
		t.Errorf("missing are %q, want only the one with another value", lost)
	}
	delete(stored, key(0))
	delete(stored, key(1))
	if lost := l.missing(stored); !slices.Equal(lost, []string{key(0), key(3)}) {
		t.Errorf("missing are %q", lost)
	}
}
