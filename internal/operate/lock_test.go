// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"errors"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestHeldBySleeper: a machine that slept, or was stopped, for longer than a lock lasts
// finds out before its next change, when its renewal has not said so yet.
func TestHeldBySleeper(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		slept time.Duration
		lost  bool
	}{{0, false}, {giveUpAfter, false}, {giveUpAfter + time.Second, true}, {time.Hour, true}} {
		now := clocktesting.NewFakeClock(began)
		ctx, cancel := context.WithCancelCause(t.Context())
		l := &Lock{ctx: ctx, cancel: cancel, clock: now, what: "team/lock", renewed: began}
		now.SetTime(began.Add(row.slept))
		_, lost := errors.AsType[*LostError](l.Held())
		if lost != row.lost || (ctx.Err() != nil) != row.lost {
			t.Errorf("after %s: lost is %t and the context ended with %v; want %t", row.slept, lost, context.Cause(ctx), row.lost)
		}
		cancel(nil)
	}
}

// TestNothingWithoutLock: whoever has lost the lock changes nothing. No client is
// given, so that anything that is done ends the test.
func TestNothingWithoutLock(t *testing.T) {
	t.Parallel()
	lost := &LostError{Lease: "team/lock", Why: "mallory has it now"}
	m := &Members{Held: func() error { return lost }, Owner: observe.Owner{Namespace: "team", Name: "main"}}
	for name, do := range map[string]func(ctx context.Context) error{
		"run": func(ctx context.Context) error {
			return m.Run(ctx, &Journal{Record: policy.Record{Operation: policy.ScaleOut}})
		},
		"undo":          func(ctx context.Context) error { return m.Undo(ctx, &Journal{}) },
		"scale druid":   func(ctx context.Context) error { return m.ScaleDruid(ctx, 3, false) },
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
				t.Errorf("it says %v", err)
			}
		})
	}
}
