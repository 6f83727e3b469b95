// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// TestCacheSync checks that every replica becomes ready after its caches are synced.
func TestCacheSync(t *testing.T) {
	t.Parallel()
	s := &cacheSync{watches: &watchHealth{}}
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
