// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package change drives every change of the plugin: permissions, plan, question, dry run,
// deadline, lock, the judgement under the lock, act, Event and output.
package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// ErrWait refuses --wait=false where nothing continues the change when the command ends.
var ErrWait = errors.New("--wait=false is not possible with this command, because it does every step itself")

// Do runs an operation on a cluster. Every change goes through it:
//
//  1. It refuses if permissions are missing. With --dry-run=client it checks none. The message has
//     all of them, also those that only the plan needs.
//  2. It refuses if a change of members is unfinished. It judges, shows the plan and asks.
//     It ends here with --dry-run=client, or if there is nothing to do.
//  3. --dry-run=server tries the writes and ends here.
//  4. It takes the cluster's lock. --timeout counts from here.
//  5. Under the lock it reads the cluster into c and judges again, on new facts.
//  6. It acts, records an Event and prints what was done.
//
// The cluster is nil for an operation on none or on many. Such an operation has no lock.
func Do(ctx context.Context, a *app.App, c *app.Cluster, f Flags, op Operation) error {
	if !f.Wait && !op.Detaches {
		return ErrWait
	}
	if err := permitted(ctx, a, c, f, op); err != nil {
		return err
	}
	plan, err := judge(ctx, a, c, f, op)
	if err != nil {
		return err
	}
	if plan.Title == "" {
		return already(ctx, a, c, f, op, plan)
	}
	if proceed, err := propose(ctx, a, c, plan, f); err != nil || !proceed {
		return err
	}
	if f.DryRun == DryRunServer {
		return try(ctx, a, op)
	}
	limit := app.NewLimit(f.Timeout, "")
	if err := act(ctx, limit, a, c, f, op, plan); err != nil || op.After == nil {
		return err
	}
	return after(ctx, limit, op, plan.Title)
}

// judge returns the plan, or an error if the operation is refused now.
func judge(ctx context.Context, a *app.App, c *app.Cluster, f Flags, op Operation) (operate.Plan, error) {
	if err := idle(ctx, a, c, op); err != nil {
		return operate.Plan{}, err
	}
	plan, err := op.Judge(ctx)
	if err != nil || f.DryRun == DryRunClient || len(plan.Needs) == 0 {
		return plan, err
	}
	return plan, require(ctx, a, c, plan.Needs)
}

// already ends a command that has nothing to do.
func already(ctx context.Context, a *app.App, c *app.Cluster, f Flags, op Operation, plan operate.Plan) error {
	if f.DryRun == DryRunNone && op.Already != nil {
		if err := Limited(ctx, f, fmt.Sprintf("%s %s", op.Verb, c), op.next, op.Already); err != nil {
			return err
		}
	}
	if plan.Already != "" {
		a.Notef("%s", plan.Already)
	}
	return nil
}

// try ends a command with --dry-run=server.
func try(ctx context.Context, a *app.App, op Operation) error {
	if op.DryRun != nil {
		if err := op.DryRun(ctx); err != nil {
			return err
		}
	}
	a.Notef("The rules and the API server allow it. Nothing was changed (--dry-run=server).")
	return nil
}

// act makes the change. The limit bounds the wait for the lock and the work. The lock outlives
// it: an operation that ran out of time is undone under the lock.
func act(ctx context.Context, limit app.Limit, a *app.App, c *app.Cluster, f Flags, op Operation, plan operate.Plan) error {
	locked := false
	err := Locked(ctx, limit, a, c, f, op.Verb, func(ctx context.Context, run *Run) error {
		locked = true
		ctx, cancel := limit.Context(ctx)
		defer cancel()
		if err := judgeAgain(ctx, a, c, f, op, plan); err != nil {
			return ended(ctx, plan.Title, err, notBegun)
		}
		return op.unfinished(ctx, plan.Title, op.Act(ctx, run))
	})
	if locked {
		return err
	}
	ctx, cancel := limit.Context(ctx)
	defer cancel()
	return ended(ctx, plan.Title, err, notBegun)
}

// Locked calls do under the cluster's lock, or without a lock for an empty verb. The limit
// bounds the wait for the lock.
func Locked(ctx context.Context, limit app.Limit, a *app.App, c *app.Cluster, f Flags, verb string, do func(context.Context, *Run) error) error {
	run := &Run{app: a, cluster: c, flags: f}
	if verb == "" {
		return do(ctx, run)
	}
	held, err := hold(ctx, limit, a, c, verb, f)
	if err != nil {
		return err
	}
	defer Release(ctx, a, held)
	run.Lock = held
	return do(held.Context(), run)
}

// judgeAgain returns an error if the change that the user agreed to is not the one that the
// facts allow now.
func judgeAgain(ctx context.Context, a *app.App, c *app.Cluster, f Flags, op Operation, agreed operate.Plan) error {
	what := op.Subject
	if c != nil {
		if err := again(ctx, a, c); err != nil {
			return err
		}
		what = c.String()
	}
	now, err := judge(ctx, a, c, f, op)
	if err != nil || now.Agreed(agreed) {
		return err
	}
	return changed(what)
}

// again reads a cluster into c again, under its lock. It returns an error if it is another one than when the plan was
// made, or if another product manages its members.
func again(ctx context.Context, a *app.App, c *app.Cluster) error {
	same, err := a.Refresh(ctx, c)
	if err == nil && !same {
		return changed(c.String())
	}
	return err
}

func changed(what string) error {
	return app.Refused("%s has changed since the plan was made: run the command again", what)
}
