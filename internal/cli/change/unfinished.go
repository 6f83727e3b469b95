// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// ended returns the error of a change whose time limit has passed, or that the user has
// interrupted. All commands have this form: the operation, what was awaited, why it ended, what
// is left and how to go on. It returns any other error as it is.
func ended(ctx context.Context, title string, err error, next func(error) string) error {
	cause := context.Cause(ctx)
	if err == nil || cause == nil || app.Is[*lock.LostError](err) || app.Is[*lock.LostError](cause) {
		return err
	}
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), cause.Error()) {
		// What was read when the time was over is no verdict: its type must not choose the exit
		// code.
		err = fmt.Errorf("%s: %w", err.Error(), cause)
	}
	return fmt.Errorf("%s: %w; %s", title, err, cmp.Or(next(err), "run the same command again to continue"))
}

// Limited calls do within the --timeout of a command. If its time is over, or the user interrupts it, the error is as that of
// a change that did not end.
func Limited(ctx context.Context, f Flags, title string, next func(error) string, do func(context.Context) error) error {
	ctx, cancel := app.Within(ctx, f.Timeout, "")
	defer cancel()
	err := do(ctx)
	awaitLimit(ctx, err)
	return ended(ctx, title, err, next)
}

// unfinished returns the error of the change, as ended does for one whose time is over. It also adds how to
// continue to other errors, but not to verdicts, which explain themselves. A change that
// can't continue is refused.
func (op Operation) unfinished(ctx context.Context, title string, err error) error {
	if ctx.Err() == nil && app.Is[*app.UnhealthyError](err) {
		return err // the change came to its end, and found the cluster unhealthy
	}
	awaitLimit(ctx, err)
	switch {
	case context.Cause(ctx) != nil:
		return ended(ctx, title, err, op.next)
	case err == nil || app.IsVerdict(err) || app.Is[*lock.LostError](err):
		return err
	}
	next := op.next(err)
	if next != "" {
		next = "; " + next
	}
	switch halted, is := errors.AsType[*operate.HaltedError](err); {
	case is && halted.Final:
		return app.Refused("stopped: %v", err)
	case is:
		return app.Refused("stopped: %v%s", err, next)
	}
	return fmt.Errorf("%w%s", err, next)
}

func (op Operation) next(err error) string {
	if op.Next == nil {
		return ""
	}
	return op.Next(err)
}

// awaitLimit waits for the end of a context whose deadline is near, if there is an error. A member
// that knows the deadline answers a moment before it has passed here, and client-go's rate limiter
// refuses a wait that would end later.
func awaitLimit(ctx context.Context, err error) {
	if deadline, ok := ctx.Deadline(); ok && err != nil && time.Until(deadline) < nearLimit {
		<-ctx.Done()
	}
}

// nearLimit is how much earlier than the limit an error counts as caused by it.
const nearLimit = time.Second

// notBegun returns what is left if the time was over before the first write.
func notBegun(error) string { return "nothing was changed; run the same command again" }

// after waits for the effect of a change. An operation may stay longer than the limit, as a cut
// of client traffic does. So only an error of the limit means that the time is over.
func after(ctx context.Context, limit app.Limit, op Operation, title string) error {
	err := op.After(ctx, limit)
	if err == nil {
		return nil
	}
	within, cancel := limit.Context(ctx)
	defer cancel()
	awaitLimit(within, err)
	deadline, limited := within.Deadline()
	byLimit := limited && time.Since(deadline).Abs() < nearLimit && app.IsTimeout(err)
	if cause := context.Cause(within); cause == nil || !byLimit && !errors.Is(err, cause) {
		return err
	}
	return ended(within, title, err, op.next)
}
