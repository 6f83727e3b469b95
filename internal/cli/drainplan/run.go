// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drainplan

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// task is one run of drain-plan --run.
type task struct {
	app     *app.App
	options options
	job     *drain.Job
	nodes   []string
	state   *drain.State
	run     *drain.Run
}

// drainNodes drains nodes through the driver of changes.
func drainNodes(ctx context.Context, a *app.App, job *drain.Job, nodes []string, o options) error {
	t := &task{app: a, options: o, job: job, nodes: nodes}
	t.run = &drain.Run{Job: job, Left: slices.Clone(nodes), Drained: t.announce, Idle: t.idle}
	return change.Do(ctx, a, nil, o.Flags, change.Operation{
		Subject: "what runs on the nodes", Needs: drain.Needs(), Judge: t.judge,
		DryRun: func(ctx context.Context) error { return job.Try(ctx, t.state) },
		Act:    t.act, Next: func(error) string { return t.run.Next() },
	})
}

func (t *task) judge(ctx context.Context) (operate.Plan, error) {
	s, err := t.job.Observe(ctx, t.nodes)
	if err != nil {
		return operate.Plan{}, drain.Existing(ctx, t.job.Kube, err)
	}
	if err := s.Incomplete(); err != nil {
		return operate.Plan{}, err
	}
	for _, o := range s.Owners {
		if err := t.unfinished(ctx, o); err != nil {
			return operate.Plan{}, err
		}
	}
	t.state = s
	plan, err := s.OperatePlan()
	if refused, is := errors.AsType[*operate.RefusedError](err); is {
		if rest := s.Drainable(); len(rest) > 0 {
			refused.Why = append(refused.Why, "drain the others with: "+t.job.Command(rest))
		}
	}
	return plan, err
}

// unfinished returns an error if a change of a cluster's members or a restart is unfinished.
func (t *task) unfinished(ctx context.Context, o owner.Owner) error {
	return change.Unfinished(ctx, t.app, t.cluster(o))
}

// idle returns an error before a wave if an operation on a cluster is unfinished. The drain stops there.
func (t *task) idle(ctx context.Context, o owner.Owner) error {
	err := t.unfinished(ctx, o)
	if app.IsVerdict(err) {
		return operate.Halt("the next wave can't begin: %v", err)
	}
	return err
}

func (t *task) act(ctx context.Context, run *change.Run) error {
	if err := t.run.Do(ctx); err != nil {
		return err
	}
	for _, n := range t.nodes {
		run.Print("node/%s drained", n)
	}
	return nil
}

// announce records the eviction of members as an Event on their cluster.
func (t *task) announce(ctx context.Context, o owner.Owner, pods []string) {
	change.Announce(ctx, t.app, t.cluster(o), reasons.MembersDrained, "evicted "+strings.Join(pods, ", ")+" to drain their nodes", t.options.Flags)
}

func (t *task) cluster(o owner.Owner) *app.Cluster {
	return &app.Cluster{Owner: o, Reader: t.job.Reader, Kube: t.job.Kube}
}
