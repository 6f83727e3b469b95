// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The exit codes of docs/exit-codes.md.
const (
	exitOK          = 0
	ExitError       = 1
	exitRefused     = 2
	exitUnhealthy   = 3
	exitIncomplete  = 4
	exitTimedOut    = 124
	exitInterrupted = 130
)

// RefusedError means that a rule forbids the action. Its message explains what to change.
type RefusedError struct{ message string }

func (e *RefusedError) Error() string { return e.message }

// Refused returns an error for exit code 2.
func Refused(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// UnhealthyError means that the command succeeded, and that the cluster is not healthy.
type UnhealthyError struct{ message string }

func (e *UnhealthyError) Error() string { return e.message }

// Unhealthy returns an error for exit code 3.
func Unhealthy(format string, args ...any) error {
	return &UnhealthyError{fmt.Sprintf(format, args...)}
}

// IncompleteError means that the command did its main work, and that something after it failed. To repeat the command
// would do that work a second time.
type IncompleteError struct{ message string }

func (e *IncompleteError) Error() string { return e.message }

// Incomplete returns an error for exit code 4.
func Incomplete(format string, args ...any) error {
	return &IncompleteError{fmt.Sprintf(format, args...)}
}

// CommandError means that the command of the user, which this one ran for them, ended with an exit code other than 0. It has
// printed its own error.
type CommandError struct{ Code int }

func (e CommandError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// timedOutError describes what a command waited for when its time limit expired.
type timedOutError struct {
	message string
	limit   time.Duration
}

func (e *timedOutError) Error() string {
	if e.limit == 0 {
		return e.message
	}
	return strings.TrimPrefix(e.message+": ", ": ") + fmt.Sprintf("not done within the --timeout of %s", policy.Duration(e.limit))
}

// Is reports whether target is context.DeadlineExceeded.
func (e *timedOutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Limit is the --timeout of a command. It bounds the command's work, not the time that a
// user reads the plan. The zero Limit bounds nothing.
type Limit struct {
	end   time.Time
	cause error
}

// NewLimit returns the limit that ends timeout from now, or none for a timeout of 0.
// awaited is what the command waits for. It is in the error when the limit expires. It may be
// empty if the caller adds it.
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

// Outcome returns the exit code of an error, and the label to print before it. ctx is the
// context of the whole program, which ends when the user interrupts it.
func Outcome(ctx context.Context, err error) (code int, label string) {
	if ran, ok := errors.AsType[CommandError](err); ok {
		return ran.Code, "" // the user's command has printed its own error
	}
	switch {
	case err == nil:
		return exitOK, ""
	case ctx.Err() != nil:
		return exitInterrupted, "interrupted"
	case refused(err):
		return exitRefused, "refused"
	case unhealthy(err):
		return exitUnhealthy, "unhealthy"
	case Is[*IncompleteError](err):
		return exitIncomplete, "incomplete"
	case IsTimeout(err):
		return exitTimedOut, "timed out"
	}
	return ExitError, "error"
}

// IsVerdict reports whether an error is the decision of a rule or a finding, not a failure.
func IsVerdict(err error) bool {
	return refused(err) || unhealthy(err)
}

func unhealthy(err error) bool { return Is[*UnhealthyError](err) || Is[*snapshot.CorruptError](err) }

func refused(err error) bool {
	return Is[*RefusedError](err) || Is[*lock.HeldError](err) || Is[*operate.RefusedError](err) || Is[*etcd.SplitBrainError](err)
}

// IsTimeout reports whether a time limit expired, here or in the API server. client-go's rate
// limiter refuses a wait that would end after the deadline, with an error that has no type.
func IsTimeout(err error) bool {
	return err != nil && (Is[*timedOutError](err) || errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) ||
		strings.Contains(err.Error(), "would exceed context deadline"))
}

// Is reports whether err has an error of type E in its chain.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
