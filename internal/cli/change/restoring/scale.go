// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// awaitsScale reports whether only a scale is left of a restore.
func (t *task) awaitsScale(ctx context.Context, rec *progress.Record) (bool, error) {
	sts, err := rec.OfPresent(ctx, t.cluster.Kube, t.cluster.Owner)
	return err == nil && rec.Journal().AwaitsScale(sts), err
}

// resumeScale plans the scale that is left of a restore. follow runs it.
func (t *task) resumeScale(rec *progress.Record) (operate.Plan, error) {
	left := membership.UnfinishedOther(t.cluster.Owner, rec.Journal())
	if t.Abort {
		return operate.Plan{}, app.Refused("the restore into %s can't be undone, because clients have been let in, and what they have written would be lost. %s", t.cluster.Owner, left)
	}
	if err := t.continues(rec); err != nil {
		return operate.Plan{}, err
	}
	if err := rec.Same(t.template.File, t.template.Snapshot); err != nil {
		return operate.Plan{}, app.Refused("%v; %s", err, left)
	}
	t.plan = t.template
	t.plan.Owner = t.cluster.Owner
	steps, plan := t.plan.OnlyScale(rec)
	t.steps = steps
	return plan, nil
}
