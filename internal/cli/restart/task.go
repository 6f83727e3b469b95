// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// task is one run of a restart, which an earlier command may have begun.
type task struct {
	options

	app     *app.App
	cluster *app.Cluster
	job     *restart.Job
	run     change.Journaled[*restart.Record]
}

func (t *task) operation() change.Operation {
	t.run = change.Journaled[*restart.Record]{
		Read: t.read, Plan: t.plan, Resume: t.resume, Create: t.job.Begin, Abort: "restart no further member", Undoing: t.abort,
	}
	return t.run.Operation(t.cluster, "restart", t.job.Needs(), t.act)
}

func (t *task) read(ctx context.Context) (*restart.Record, error) {
	t.job.Owner = t.cluster.Owner
	return restart.Read(ctx, t.cluster.Kube, t.cluster.Owner)
}

func (t *task) plan(ctx context.Context) (*restart.Record, operate.Plan, error) {
	if t.abort {
		return nil, operate.Plan{Already: fmt.Sprintf("No restart of %s is unfinished: there is nothing to end.", t.cluster.Owner)}, nil
	}
	if err := change.Unfinished(ctx, t.app, t.cluster); err != nil {
		return nil, operate.Plan{}, err
	}
	if t.strategy == restart.Coordinated {
		t.run.Abort = abortTogether
		return t.job.PlanCoordinated(ctx)
	}
	return t.job.Plan(ctx, t.member)
}

// abortTogether is what --abort does in a coordinated restart.
const abortTogether = "bring back members that have stopped, and restore client traffic"

// resume refuses if the unfinished restart is another one than the user asks for.
func (t *task) resume(ctx context.Context, found *restart.Record) (operate.Plan, error) {
	if found.Strategy == restart.Coordinated {
		t.run.Abort = abortTogether
	}
	if t.abort || found.ContinuedBy(t.member, t.strategy) {
		return t.job.PlanResume(ctx, found, t.abort)
	}
	o := t.cluster.Owner
	what := fmt.Sprintf("a restart of %s (%s)", o, found.Summary())
	return operate.Plan{}, app.Refused("%s", membership.Unfinished(what, found.Journal(), membership.WaysOf(o, found.Journal())))
}

func (t *task) act(ctx context.Context, run *change.Run) error {
	t.job.StillHeld, t.job.Lock = run.Held, run.Lock
	if err := t.run.Begin(ctx, run); err != nil {
		return err
	}
	notes, err := t.job.Run(ctx, t.run.Current)
	if err != nil {
		return err
	}
	for _, n := range notes {
		t.app.Warn("%s.", n.Message)
	}
	t.done(ctx, run)
	return nil
}

// done records what was restarted.
func (t *task) done(ctx context.Context, run *change.Run) {
	what := "restarted " + cmp.Or(strings.Join(t.job.Restarted(ctx, t.run.Current), ", "), "no member")
	line := fmt.Sprintf("%s: %s", t.cluster.Target(), what)
	if t.abort {
		run.Done(ctx, reasons.RestartEnded, "ended a restart: "+what, line)
		return
	}
	run.Done(ctx, reasons.Restarted, what, line)
}
