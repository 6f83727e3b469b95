// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func runSchedule(ctx context.Context, a *app.App, target string, o scheduleOptions) error {
	if o.to != "" {
		var err error
		if o.spec.To, err = schedule.ParseTo(o.to); err != nil {
			return err
		}
	}
	var err error
	if o.spec.CA, err = o.authorities(); err != nil {
		return err
	}
	if o.spec.Args, o.spec.Secrets, err = a.Credentials.ForJob(); err != nil {
		return err
	}
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	s := &scheduling{app: a, cluster: c, job: &schedule.Job{Kube: c.Kube, Owner: c.Owner, Spec: o.spec, Action: o.action(), Clock: a.Clock, Warnf: a.Warn}, flags: o.Flags}
	return change.Do(ctx, a, c, o.Flags, s.operation())
}

// scheduling is one change of a schedule.
type scheduling struct {
	app     *app.App
	cluster *app.Cluster
	job     *schedule.Job
	flags   change.Flags
}

func (s *scheduling) operation() change.Operation {
	return change.Operation{
		Verb: "snapshot schedule", AllowsUnfinished: true, Detaches: true, Needs: s.job.Needs(),
		Judge: func(ctx context.Context) (operate.Plan, error) {
			s.job.Owner = s.cluster.Owner
			return s.job.Judge(ctx)
		},
		DryRun: s.job.Try,
		Act:    s.act,
		After:  s.after,
		Next: func(err error) string {
			if !app.IsTimeout(err) && !errors.Is(err, context.Canceled) {
				return ""
			}
			return fmt.Sprintf("the first snapshot may still be stored: kubectl etcd snapshot list %s -n %s", s.cluster.Target(), s.cluster.Namespace)
		},
	}
}

func (s *scheduling) act(ctx context.Context, run *change.Run) error {
	s.job.StillHeld = run.Held
	if err := s.job.Act(ctx); err != nil {
		return err
	}
	what, reason := map[schedule.Action]string{
		schedule.Set:     fmt.Sprintf("scheduled a snapshot every %s to %s", policy.Duration(s.job.Spec.Every), s.job.Spec.To),
		schedule.Suspend: "suspended the schedule of snapshots", schedule.Resume: "resumed the schedule of snapshots", schedule.Delete: "deleted the schedule of snapshots",
	}[s.job.Action], reasons.SnapshotScheduleSet
	if s.job.Action == schedule.Delete {
		reason = reasons.SnapshotScheduleDeleted
	}
	run.Done(ctx, reason, what, fmt.Sprintf("%s: %s", s.cluster.Target(), what))
	if !s.flags.Wait {
		return s.job.EndFirst(ctx)
	}
	return nil
}

// after waits for the first snapshot.
func (s *scheduling) after(ctx context.Context, limit app.Limit) error {
	if !s.flags.Wait {
		return nil
	}
	ctx, cancel := limit.Context(ctx)
	defer cancel()
	stored, err := s.job.Await(ctx)
	if stored {
		s.app.Step("The first snapshot is stored")
	}
	return err
}
