// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func newAlarmDisarmCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 2 * time.Minute}
	cmd := &cobra.Command{
		Use:   "disarm TARGET",
		Short: "Disarm alarms whose cause no longer exists",
		Long: ui.Paragraphs(`
			Disarm the alarms of a cluster whose cause no longer exists.

			A NOSPACE alarm is disarmed if no database uses more than 90 % of its quota. Use kubectl etcd
			defrag to reduce the size of the databases; that command also disarms the alarm.

			A CORRUPT alarm is disarmed if the data of all voters is equal. The voters calculate a hash of
			their data at one revision, which reads their whole databases. If the hashes differ, the
			output shows the members that differ, and the alarm stays.

			Exit codes: 0 all alarms are disarmed, 3 only some of them, 2 none of them, 1 error.`),
		Example: ui.Examples(`
			# Disarm the alarms after a defragmentation
			kubectl etcd alarm disarm etcd-main

			# Check whether the alarms can be disarmed, and change nothing
			kubectl etcd alarm disarm etcd-main --dry-run=server`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return alarmDisarm(cmd.Context(), e, args[0], ch)
		},
	}
	change.AddFlags(cmd, &ch)
	return cmd
}

func alarmDisarm(ctx context.Context, a *app.App, target string, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	d := &maintenance.Disarming{
		Cluster: c.String(), Facts: policy.Cluster{Namespace: c.Namespace, Name: c.Name, Target: c.Target().String()}, Clock: a.Clock,
		Comparing: func() { a.Notef("  comparing the data of all voters ...") },
	}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "alarm disarm", Needs: change.ThroughTunnel(c),
		AllowsUnfinished: true, // an unfinished change can't continue while etcd accepts no writes
		Judge: func(ctx context.Context) (operate.Plan, error) {
			d.Members = c.Members
			return d.Judge(ctx)
		},
		Act: func(ctx context.Context, run *change.Run) error {
			err := d.Run(ctx, run.Held, func(alarm etcd.Alarm) {
				run.Done(ctx, reasons.AlarmDisarmed, fmt.Sprintf("disarmed %s of %s", alarm.Type, alarm.Where()),
					fmt.Sprintf("alarm %s of %s is disarmed.", alarm.Type, alarm.Where()))
			})
			if left := d.Stay(); err == nil && left != "" {
				return app.Unhealthy("%s", left)
			}
			return err
		},
	})
}
