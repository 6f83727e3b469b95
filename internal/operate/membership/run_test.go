// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestNothingWithoutLock: an operation that has lost the lock changes nothing. No client is
// given, so that anything that is done ends the test.
func TestNothingWithoutLock(t *testing.T) {
	t.Parallel()
	lost := &lock.LostError{Lease: "team/lock", Why: "it is held by mallory"}
	m := &Members{StillHeld: func() error { return lost }, Owner: owner.Owner{Namespace: "team", Name: "main"}}
	for name, do := range map[string]func(ctx context.Context) error{
		"run": func(ctx context.Context) error {
			return m.Run(ctx, &Change{Record: membership.Record{Operation: membership.ScaleOut}})
		},
		"undo":          func(ctx context.Context) error { return m.Undo(ctx, &Change{}, true) },
		"scale druid":   func(ctx context.Context) error { return m.ScaleDruid(ctx, 3, nil) },
		"replace druid": func(ctx context.Context) error { return m.ReplaceDruid(ctx, &DruidReplacement{}, false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("it went on: %v", r)
				}
			}()
			if err := do(t.Context()); !errors.Is(err, lost) {
				t.Errorf("got %v", err)
			}
		})
	}
}
