// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
)

func newAlarmListCmd(e *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list TARGET",
		Short: "List the alarms of a cluster",
		Long: ui.Paragraphs(`
			List the alarms of a cluster. With a NOSPACE alarm, etcd accepts no writes. A CORRUPT alarm
			means that the data of a member differs from the data of the others.

			Exit codes: 0 no alarm, 3 an alarm is raised, 1 error.`),
		Example: ui.Examples(`
			# List the members that raised an alarm
			kubectl etcd alarm list etcd-main

			# Print the types of the alarms
			kubectl etcd alarm list etcd-main -o json | jq -r '.items[].type'`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return alarmList(cmd.Context(), e, cmd, args[0])
		},
	}
	ui.AddOutputFlags(cmd)
	return cmd
}

func alarmList(ctx context.Context, e *app.App, cmd *cobra.Command, target string) error {
	c, err := e.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	_, alarms, err := maintenance.Raised(ctx, c.Members)
	if err != nil {
		return err
	}
	list := &v1alpha1.EtcdAlarmList{Cluster: health.IdentityOf(c.Owner), Items: []v1alpha1.EtcdAlarm{}}
	for _, a := range alarms {
		list.Items = append(list.Items, v1alpha1.EtcdAlarm{Type: a.Type, MemberID: etcd.HexID(a.MemberID), Member: a.Name, Pod: a.Pod})
	}
	if err := e.Print(cmd, list, render.Alarms(e.Console, list)); err != nil {
		return err
	}
	if len(alarms) > 0 {
		return app.Unhealthy("%s", maintenance.Meaning(c.Target().String(), c.Namespace, alarms))
	}
	return nil
}
