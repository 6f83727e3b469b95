// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// task is one run of a restart, which an earlier command may have begun.
type task struct {
	options

	app     *app.App
	cluster *app.Cluster
	job     *restart.Job
	record  *restart.Record
	change.Journaled
}

// matches returns an error if an unfinished restart is another one than the user asks for.
func (t *task) matches(found *restart.Record) error {
	if found == nil || t.abort || t.member == "" || t.member == found.Only {
		return nil
	}
	o := t.cluster.Owner
	return app.Refused("a restart of %s (%s) is unfinished since %s: continue it with kubectl etcd restart %s -n %s, or end it with kubectl etcd restart %s --abort -n %s",
		o, found.Summary(), found.Journal().Began.Format("2006-01-02 15:04 MST"), o.Target(), o.Namespace, o.Target(), o.Namespace)
}

func (t *task) judge(ctx context.Context) (operate.Plan, error) {
	t.job.Owner = t.cluster.Owner
	now, err := restart.Read(ctx, t.cluster.Kube, t.cluster.Owner)
	switch {
	case err != nil:
		return operate.Plan{}, err
	case t.Fresh && now != nil:
		return operate.Plan{}, app.Refused("another command has begun a restart of %s: see kubectl etcd status %s -n %s", t.cluster.Owner, t.cluster.Target(), t.cluster.Namespace)
	case t.Fresh:
		var plan operate.Plan
		t.record, plan, err = t.job.Plan(ctx, t.member)
		return plan, err
	case !t.record.Same(now):
		return operate.Plan{}, app.Refused("another command has ended the unfinished restart of %s: see kubectl etcd status %s -n %s", t.cluster.Owner, t.cluster.Target(), t.cluster.Namespace)
	}
	t.record = now
	return t.job.PlanResume(ctx, now, t.abort)
}

// try is the dry run: the API server tries the first writes of a fresh restart.
func (t *task) try(ctx context.Context) error {
	if !t.Fresh {
		return nil
	}
	return t.job.Begin(ctx, t.record, true)
}

func (t *task) act(ctx context.Context, run *change.Run) error {
	t.job.StillHeld = run.Held
	begin := func(ctx context.Context) error { return t.job.Begin(ctx, t.record, false) }
	if err := t.Begin(ctx, run, t.record.Journal(), begin); err != nil {
		return err
	}
	if t.abort {
		if err := t.job.End(ctx, t.record); err != nil {
			return err
		}
		t.done(ctx, run)
		return nil
	}
	notes, err := t.job.Run(ctx, t.record)
	if stopped := (*restart.StoppedError)(nil); errors.As(err, &stopped) && context.Cause(ctx) == nil {
		return app.Refused("stopped: %v; then %s", err, t.next(err))
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		t.app.Warn("%s.", n.Message)
	}
	t.done(ctx, run)
	return nil
}

// next returns how to go on after a run that didn't come to the end.
func (t *task) next(error) string {
	return t.Next(t.cluster.Owner, "restart no further member")
}

// done records what was restarted.
func (t *task) done(ctx context.Context, run *change.Run) {
	restarted := t.job.Restarted(ctx, t.record)
	what := "restarted " + strings.Join(restarted, ", ")
	if len(restarted) == 0 {
		what = "restarted no member"
	}
	line := fmt.Sprintf("%s: %s", t.cluster.Target(), what)
	if t.abort {
		run.Done(ctx, reasons.RestartEnded, "ended a restart: "+what, line)
		return
	}
	run.Done(ctx, reasons.Restarted, what, line)
}
