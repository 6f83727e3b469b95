// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import "testing"

// TestWrapper runs the tests of the stand-in for etcd-wrapper. It is a module of
// its own, for its etcd is an older one, and would be left out otherwise. Built as the
// stand-in itself is, little has to be compiled beside clusters that run.
func TestWrapper(t *testing.T) {
	t.Parallel()
	tree, err := findCheckout()
	if err != nil {
		t.Fatal(err)
	}
	if err := goCommand(t.Context(), tree.module("programs/wrapper"), t.Output(), t.Output(), "test", "-trimpath", "-vet=off", "./..."); err != nil {
		t.Errorf("go test: %v", err)
	}
}
