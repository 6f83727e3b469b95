// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cures

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// TestEveryCheck checks that the cure of every check is typed, or has a reason why it is not.
func TestEveryCheck(t *testing.T) {
	t.Parallel()
	typed, untyped := Typed(), Untyped()
	known := map[string]bool{}
	for _, c := range health.All() {
		known[c.ID] = true
		why, listed := untyped[c.ID]
		switch is := slices.Contains(typed, c.ID); {
		case is && listed:
			t.Errorf("%s is in Typed and in Untyped: %s", c.ID, why)
		case !is && why == "":
			t.Errorf("the cure of %s (%s) is not typed: add a row to TestCuresTyped, or add the reason to Untyped", c.ID, c.Title)
		}
	}
	for _, id := range typed {
		if !known[id] {
			t.Errorf("there is no check %s", id)
		}
	}
	for id := range untyped {
		if !known[id] {
			t.Errorf("there is no check %s", id)
		}
	}
}
