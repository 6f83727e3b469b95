// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestHeldBySleeper: a machine that slept, or was stopped, for longer than a lock lasts
// finds out before its next change, before its renewal reports it.
func TestHeldBySleeper(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		slept time.Duration
		lost  bool
	}{{0, false}, {RenewDeadline, false}, {RenewDeadline + time.Second, true}, {time.Hour, true}} {
		now := clocktesting.NewFakeClock(began)
		ctx, cancel := context.WithCancelCause(t.Context())
		l := &Lock{ctx: ctx, cancel: cancel, clock: now, name: "team/lock", renewed: began}
		now.SetTime(began.Add(row.slept))
		_, lost := errors.AsType[*LostError](l.StillHeld())
		if lost != row.lost || (ctx.Err() != nil) != row.lost {
			t.Errorf("after %s: lost is %t and the context ended with %v; want %t", row.slept, lost, context.Cause(ctx), row.lost)
		}
		cancel(nil)
	}
}

// TestOf: the owner of a lock is in its name, unless the name is shortened.
func TestOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		Name(owner.Owner{Kind: "StatefulSet", Name: "main"}):                   "statefulset main true",
		Name(owner.Owner{Kind: "Etcd", Name: "etcd-main"}):                     "etcd etcd-main true",
		Name(owner.Owner{Kind: "StatefulSet", Name: strings.Repeat("x", 250)}): "statefulset  true",
		"kubectl-etcd-":      "  false",
		"kubectl-etcd-main":  "  false",
		"another-etcd-main":  "  false",
		"kubectl-etcd--main": "  false",
	} {
		lease := &coordinationv1.Lease{}
		lease.Name = name
		kind, of, is := Of(lease)
		if got := fmt.Sprintf("%s %s %t", kind, of, is); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
