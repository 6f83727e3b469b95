// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// judgeUnstopped judges an unfinished restore again that has stopped no member, or whose members another client has started
// before it changed any data: the members may have come back and written since. The plan then has what they answer now.
func (t *task) judgeUnstopped(ctx context.Context, rec *progress.Record, r *restore.Plan) error {
	if !r.Unstopped {
		return nil
	}
	now := *r
	now.Loss = ""
	if err := t.judgeNow(ctx, rec, &now); err != nil {
		return err
	}
	r.AsNow(now)
	rec.Done = r.Redone(rec)
	return nil
}

// beforeStop judges the restore a last time before it stops members. Since the plan, the tool has run, an image was pulled
// and data was saved.
func (t *task) beforeStop(ctx context.Context) error {
	rec, now := t.run.Current, t.plan
	if t.run.Continues() && !now.Unstopped {
		return nil
	}
	now.Loss = ""
	if err := t.judgeNow(ctx, rec, &now); err != nil {
		return err
	}
	t.plan.AtStop(now)
	rec.Newest, rec.Loss = t.plan.Newest, t.plan.Loss
	return nil
}

// judgeNow surveys the members into a plan. It returns an error if the restore is not to go on.
func (t *task) judgeNow(ctx context.Context, rec *progress.Record, now *restore.Plan) error {
	if rec.Survivor != "" {
		why, err := stillLost(ctx, t.app, t.cluster, rec)
		if err != nil {
			return err
		}
		if why != "" {
			return now.MustEnd(why)
		}
	}
	if err := Survey(ctx, t.app, t.cluster, t.target, now); err != nil {
		return err
	}
	return now.MayStillStop(rec)
}
