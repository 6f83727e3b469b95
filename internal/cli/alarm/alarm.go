// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package alarm implements kubectl etcd alarm.
package alarm

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// NewCommand returns the command alarm.
func NewCommand(e *app.App) *cobra.Command {
	return ui.NewGroupCmd("alarm", "List and disarm etcd's alarms", newAlarmListCmd(e), newAlarmDisarmCmd(e))
}

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
	_, alarms, err := raised(ctx, c)
	if err != nil {
		return err
	}
	list := &v1alpha1.EtcdAlarmList{Cluster: health.IdentityOf(c.Owner), Items: []v1alpha1.EtcdAlarm{}}
	for _, a := range alarms {
		list.Items = append(list.Items, v1alpha1.EtcdAlarm{Type: a.Type, MemberID: fmt.Sprintf("%016x", a.MemberID), Member: a.Name, Pod: a.Pod})
	}
	if err := e.Print(cmd, list, func(w io.Writer, wide bool) error { return alarmTable(e, w, wide, list) }); err != nil {
		return err
	}
	if len(alarms) > 0 {
		return app.Unhealthy("%s", alarmAdvice(c, alarms))
	}
	return nil
}

func alarmTable(e *app.App, w io.Writer, wide bool, list *v1alpha1.EtcdAlarmList) error {
	if len(list.Items) == 0 {
		fmt.Fprintf(e.ErrOut, "No alarm is raised in %s %s/%s.\n", list.Cluster.Kind, list.Cluster.Namespace, list.Cluster.Name)
		return nil
	}
	t := ui.Table{Columns: []ui.Column{{Name: "ALARM"}, {Name: "POD"}, {Name: "MEMBER", Shrink: 16}, {Name: "ID"}}}
	for _, a := range list.Items {
		row := ui.Plain(a.Type, a.Pod, a.Member, a.MemberID)
		row[0].Color = ui.Red
		t.Rows = append(t.Rows, row)
	}
	return t.Write(e.Console, w, wide)
}

// alarmAdvice returns what the alarms mean and the command that repairs their cause.
func alarmAdvice(c *app.Cluster, alarms []etcd.Alarm) string {
	corrupt := slices.DeleteFunc(slices.Clone(alarms), func(a etcd.Alarm) bool { return a.Type != rules.Corrupt })
	switch {
	case slices.ContainsFunc(corrupt, func(a etcd.Alarm) bool { return !a.Gone }):
		return fmt.Sprintf("etcd reports that the data of members differs. Find the member with kubectl etcd check %s -n %s, and replace it", c.Name, c.Namespace)
	case len(corrupt) > 0:
		return fmt.Sprintf("etcd accepts no writes, although the member with other data was removed. kubectl etcd alarm disarm %s -n %s compares the data of the other members and disarms the alarm", c.Name, c.Namespace)
	}
	return fmt.Sprintf("etcd accepts no writes. kubectl etcd defrag %s -n %s compacts and defragments the databases, and disarms the alarm", c.Name, c.Namespace)
}

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
	d := &disarming{app: a, cluster: c}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "alarm disarm", Needs: change.ThroughTunnel(c), Judge: d.judge, Act: d.act,
		AllowsUnfinished: true, // an unfinished change can't continue while etcd accepts no writes
	})
}

// raised returns a survey of the members and the alarms that are raised.
func raised(ctx context.Context, c *app.Cluster) (etcd.Survey, []etcd.Alarm, error) {
	survey, err := c.Members.Survey(ctx)
	if err != nil {
		return survey, nil, err
	}
	alarms, err := maintenance.Alarms(ctx, c.Members, survey)
	return survey, alarms, err
}

// disarming is one run of alarm disarm.
type disarming struct {
	app     *app.App
	cluster *app.Cluster
	survey  etcd.Survey
	// may has the alarms that may be disarmed. stay has a reason for each of the others.
	may  []etcd.Alarm
	stay []string
}

// judge evaluates the rules for each alarm alone, because one alarm must not keep another
// one. It returns an error if no alarm may be disarmed.
func (d *disarming) judge(ctx context.Context) (operate.Plan, error) {
	survey, alarms, err := raised(ctx, d.cluster)
	if err != nil {
		return operate.Plan{}, err
	}
	if len(alarms) == 0 {
		return operate.Plan{Already: fmt.Sprintf("No alarm is raised in %s.", d.cluster.Owner)}, nil
	}
	databases := maintenance.Databases(survey)
	data, err := d.compare(ctx, survey, alarms)
	if err != nil {
		return operate.Plan{}, err
	}
	plan := operate.Plan{Title: fmt.Sprintf("Disarm the alarms of %s", d.cluster.Owner), Facts: change.DatabaseFacts(databases)}
	d.survey, d.may, d.stay = survey, nil, nil
	for _, alarm := range alarms {
		v := rules.MayDisarm(databases, alarm.Type, data)
		if !v.Allowed {
			d.stay = append(d.stay, fmt.Sprintf("alarm %s of %s stays: %s", alarm.Type, alarm.Where(), v.Message))
			continue
		}
		d.may = append(d.may, alarm)
		plan.Steps = append(plan.Steps, fmt.Sprintf("disarm %s of %s: %s", alarm.Type, alarm.Where(), v.Message))
		for _, n := range v.Notes {
			plan.Warnings = append(plan.Warnings, n.Message+".")
		}
	}
	if len(d.may) == 0 {
		return plan, app.Refused("%s", strings.Join(d.stay, "; "))
	}
	for _, why := range d.stay {
		plan.Warnings = append(plan.Warnings, why+".")
	}
	for _, alarm := range d.may {
		plan.Subject += fmt.Sprintf("%s of %016x ", alarm.Type, alarm.MemberID)
	}
	return plan, nil
}

// compare compares the data of all voters if a CORRUPT alarm is raised.
func (d *disarming) compare(ctx context.Context, survey etcd.Survey, alarms []etcd.Alarm) (rules.Comparison, error) {
	if !slices.ContainsFunc(alarms, func(a etcd.Alarm) bool { return a.Type == rules.Corrupt }) {
		return rules.Comparison{}, nil
	}
	fmt.Fprintln(d.app.ErrOut, "  comparing the data of all voters ...")
	return maintenance.Compare(ctx, d.cluster.Members, survey, d.app.Clock)
}

// act disarms the alarms that may be disarmed. It returns an error for exit code 3 if others
// stay.
func (d *disarming) act(ctx context.Context, run *change.Run) error {
	for _, a := range d.may {
		if err := run.Held(); err != nil {
			return err
		}
		if err := maintenance.Disarm(ctx, d.cluster.Members, d.survey, a); err != nil {
			return err
		}
		run.Done(ctx, reasons.AlarmDisarmed, fmt.Sprintf("disarmed %s of %s", a.Type, a.Where()),
			fmt.Sprintf("alarm %s of %s is disarmed.", a.Type, a.Where()))
	}
	if len(d.stay) > 0 {
		return app.Unhealthy("%s", strings.Join(d.stay, "; "))
	}
	return nil
}
