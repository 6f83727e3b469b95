// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"sync"
	"testing"
)

// TestKeyed checks the zero value, that updates of concurrent workers aren't lost, and that a
// copy doesn't change with the map.
func TestKeyed(t *testing.T) {
	t.Parallel()
	var k Keyed[string, int]
	if _, ok := k.Get("a"); ok || len(k.All()) > 0 {
		t.Error("the zero value isn't empty")
	}
	if _, ok := k.Remove("a"); ok {
		t.Error("removed a key that doesn't exist")
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 100 {
				k.Update("a", func(n int) int { return n + 1 })
				k.Swap("b", 1)
			}
		})
	}
	workers.Wait()
	if n, _ := k.Get("a"); n != 800 {
		t.Errorf("%d updates, want 800", n)
	}
	before := k.All()
	k.Retain(func(key string) bool { return key == "b" })
	if _, ok := k.Get("a"); ok || before["a"] != 800 {
		t.Errorf("a is kept, or the copy changed: %v", before)
	}
	if previous, existed := k.Swap("b", 2); previous != 1 || !existed {
		t.Errorf("the previous value is %d, %v", previous, existed)
	}
}
