// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

func TestWaiter(t *testing.T) {
	t.Parallel()
	var w Waiter
	var logged []string
	logf := func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) }
	over := errors.New("the time is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)

	if err := w.Ended(ctx); !errors.Is(err, over) || err.Error() != over.Error() {
		t.Errorf("nothing is awaited, and the error is %q", err)
	}
	for range 2 {
		w.Await(logf, "pod %s is ready", "main-0")
	}
	w.Await(logf, "pod %s is ready", "main-1")
	if want := []string{"… pod main-0 is ready", "… pod main-1 is ready"}; !slices.Equal(logged, want) {
		t.Errorf("logged %q, want %q", logged, want)
	}
	clock := testingclock.NewFakeClock(time.Time{})
	if err := w.Pause(ctx, clock, time.Second); !errors.Is(err, over) || err.Error() != "waited for: pod main-1 is ready: the time is over" {
		t.Errorf("the error is %q", err)
	}
	w.Reset()
	if err := w.Ended(ctx); err.Error() != over.Error() {
		t.Errorf("after Reset, the error is %q", err)
	}
}
