// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// The exit codes, as docs/exit-codes.md has them.
const (
	exitOK          = 0
	ExitError       = 1
	exitRefused     = 2
	exitUnhealthy   = 3
	exitTimedOut    = 124
	exitInterrupted = 130
)

// RefusedError says that a rule forbids what was asked, with what would change it.
type RefusedError struct{ message string }

func (e *RefusedError) Error() string { return e.message }

// Refused ends a command with exit code 2.
func Refused(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// UnhealthyError says that a cluster isn't well; the command did its work.
type UnhealthyError struct{ message string }

func (e *UnhealthyError) Error() string { return e.message }

// Unhealthy ends a command with exit code 3.
func Unhealthy(format string, args ...any) error {
	return &UnhealthyError{fmt.Sprintf(format, args...)}
}

// timedOutError says what was still awaited when the time was over.
type timedOutError struct {
	message string
	limit   time.Duration
}

func (e *timedOutError) Error() string {
	if e.limit == 0 {
		return e.message
	}
	return fmt.Sprintf("%s: not within the %s of --timeout", e.message, e.limit)
}

// Is makes it a deadline that was exceeded, for those who ask so.
func (e *timedOutError) Is(target error) bool { return target == context.DeadlineExceeded }

// TimedOut ends a command with exit code 124. The words say what was awaited and
// what was seen instead.
func TimedOut(format string, args ...any) error {
	return &timedOutError{message: fmt.Sprintf(format, args...)}
}

// Limit is the --timeout of a command. It bounds the command's work, not the time that a
// user reads the plan. The zero Limit bounds nothing.
type Limit struct {
	end   time.Time
	cause error
}

// NewLimit returns the limit that ends timeout from now, or none for a timeout of 0.
// awaited is what the command waits for: the error says that it did not happen in time.
func NewLimit(timeout time.Duration, awaited string) Limit {
	if timeout <= 0 {
		return Limit{}
	}
	return Limit{end: clock.RealClock{}.Now().Add(timeout), cause: &timedOutError{message: awaited, limit: timeout}}
}

// Context returns a context that ends with the limit. Several contexts can share one limit.
func (l Limit) Context(parent context.Context) (context.Context, context.CancelFunc) {
	if l.end.IsZero() {
		return context.WithCancel(parent)
	}
	return context.WithDeadlineCause(parent, l.end, l.cause)
}

// Within returns a context that ends with a new limit.
func Within(ctx context.Context, timeout time.Duration, awaited string) (context.Context, context.CancelFunc) {
	return NewLimit(timeout, awaited).Context(ctx)
}

// Outcome is an error's exit code and the word before it. ctx is that of the
// whole program, which ends when the user interrupts it.
func Outcome(ctx context.Context, err error) (code int, word string) {
	if ran, ok := errors.AsType[*exec.ExitError](err); ok && ran.ExitCode() > 0 {
		return ran.ExitCode(), "" // a command that was run for the user has spoken for itself
	}
	switch {
	case err == nil:
		return exitOK, ""
	case ctx.Err() != nil:
		return exitInterrupted, "interrupted"
	case Is[*RefusedError](err), Is[*lock.HeldError](err), Is[*operate.RefusedError](err), Is[*etcd.SplitBrainError](err):
		return exitRefused, "refused"
	case Is[*UnhealthyError](err):
		return exitUnhealthy, "unhealthy"
	case isTimeout(err):
		return exitTimedOut, "timed out"
	}
	return ExitError, "error"
}

// isTimeout says that the time was over, here or for the API server, or would have been:
// client-go's rate limiter doesn't begin a wait that ends after the deadline, and says so in
// words alone.
func isTimeout(err error) bool {
	return Is[*timedOutError](err) || errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) ||
		strings.Contains(err.Error(), "would exceed context deadline")
}

func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
