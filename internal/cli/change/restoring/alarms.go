// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// alarms are those that are in force in the restored cluster.
type alarms struct {
	stay []etcd.Alarm
	// room is the verdict about NOSPACE.
	room policy.Verdict
}

// relieve disarms NOSPACE where there is room, before clients are let in, and records what stays in force.
func (c *cluster) relieve(ctx context.Context, cluster *app.Cluster, survey etcd.Survey) error {
	job := &maintenance.Job{
		Members: cluster.Members, Clock: c.task.app.Clock, StillHeld: c.run.Held, Logf: c.task.job.Logf,
		Facts: func(context.Context) (policy.Cluster, error) { // only for messages
			return policy.Cluster{Namespace: cluster.Namespace, Name: cluster.Name, Target: cluster.Target().String()}, nil
		},
	}
	stay, room, err := job.Relieve(ctx, survey)
	if err != nil {
		return err
	}
	for _, n := range room.Notes {
		c.task.app.Warn("%s.", n.Message)
	}
	c.task.alarms = &alarms{stay, room}
	return nil
}

// readAlarms surveys the cluster and does what relieve does, for a command that continues after the check of
// the cluster.
func (c *cluster) readAlarms(ctx context.Context) error {
	return c.surveyed(ctx, func(cluster *app.Cluster, survey etcd.Survey) error { return c.relieve(ctx, cluster, survey) })
}

// Unready returns why members that agree may never be ready. It is called after Agree.
func (c *cluster) Unready(ctx context.Context) (string, error) {
	if c.task.alarms == nil {
		if err := c.readAlarms(ctx); err != nil {
			return "", err
		}
	}
	return c.task.plan.Unready(c.task.alarms.stay, c.task.alarms.room)
}

// inForce returns an error while alarms are in force in the restored cluster, or if that is not known: a cluster that
// refuses all writes is no success.
func (t *task) inForce(ctx context.Context, run *change.Run) error {
	if t.alarms == nil {
		if err := (&cluster{task: t, run: run}).readAlarms(ctx); err != nil {
			return app.Unhealthy("the snapshot is restored into %s, and it is not known whether an alarm is in force (%v). To show the alarms: kubectl etcd alarm list %s -n %s", t.cluster.Owner, err, t.cluster.Target(), t.cluster.Namespace)
		}
	}
	if text := t.plan.InForce(t.alarms.stay, t.alarms.room, t.steps); text != "" {
		return app.Unhealthy("the snapshot is restored into %s, and %s", t.cluster.Owner, text)
	}
	return nil
}
