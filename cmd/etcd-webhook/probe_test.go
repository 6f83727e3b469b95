// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// TestSynced: the manager starts it once its caches are synced, on every replica.
func TestSynced(t *testing.T) {
	t.Parallel()
	s := &synced{watches: &watches{}}
	if s.check(nil) == nil {
		t.Error("ready before the caches are synced")
	}
	if s.NeedLeaderElection() {
		t.Error("only the leader would be ready")
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.check(nil); err != nil {
		t.Errorf("with its caches synced: %v", err)
	}
}
