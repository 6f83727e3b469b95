// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package recover implements kubectl etcd recover.
package recover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

type options struct {
	restoring.Options

	// lost are the pods of the members whose data is lost for good.
	lost []string
	// file is where the data of the survivor is saved, empty for a name in the current directory.
	file string
}

// NewCommand returns the command recover.
func NewCommand(a *app.App) *cobra.Command {
	o := options{Options: restoring.Options{Flags: change.Flags{Timeout: time.Hour}}}
	cmd := &cobra.Command{
		Use:   "recover TARGET",
		Short: "Recover a lost quorum from a member that still answers",
		Long: ui.Paragraphs(`
			Recover a cluster that has lost its quorum, from a member that still answers. The command
			finds out which members have their data. It refuses while those that may come back are
			enough for a quorum: to bring them back loses nothing, and kubectl etcd diagnose shows how.

			If the data of too many members is lost, the command saves the data of the member that has
			applied most to a file in the current directory, and verifies it. Then it restores this
			file as kubectl etcd snapshot restore does: all members stop, and start as one new cluster.
			Their old data stays under another name. What only lost members had is lost.

			Declare each lost member with --lost, after you have made sure that it can't come back. Nothing
			that the command could read shows that for sure. The command forces no pod away: before anything
			is changed, it refuses if a member runs on a node that is not Ready. It judges the cluster again
			after you have confirmed the plan.

			It never deletes the data of a member, and it never chooses a backup: if no member answers, use
			kubectl etcd snapshot restore. It doesn't stop other writers of the StatefulSet, such as Helm or
			GitOps: keep them away while it runs. After an interruption, run the same command in the same directory again, or
			use --abort to start the members on their old data again. --abort is
			refused once the volume claim of a lost member is replaced. --dry-run changes nothing in the cluster, but also
			saves the data to a file.`),
		Example: ui.Examples(`
			# Show what would be done
			kubectl etcd recover etcd-main --dry-run=client

			# Show which members answer, and what is known of the others
			kubectl etcd diagnose etcd-main

			# The disks of two of three members are gone
			kubectl etcd recover etcd-main --lost etcd-main-1,etcd-main-2 --reason "two nodes with local disks lost"`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			return run(cmd.Context(), a, args[0], o)
		},
	}
	restoring.AddFlags(cmd, &o.PlanOptions)
	cmd.Flags().StringSliceVar(&o.lost, "lost", nil, "Pods of members whose data is lost for good, although their volumes seem to exist")
	cmd.Flags().StringVar(&o.file, "save-to", "", "File for the data of the member that has applied most. The default is a new file in the current directory")
	cmd.Flags().BoolVar(&o.Abort, "abort", false, "Undo an unfinished recovery: start the members on their old data again, whatever the other flags are")
	change.AddFlags(cmd, &o.Flags)
	return cmd
}

// run restores the data of a survivor, or continues or undoes that.
func run(ctx context.Context, a *app.App, target string, o options) error {
	if o.Abort {
		return restoring.Do(ctx, a, "", target, o.Options, restoring.Recovery{})
	}
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	unfinished, err := progress.Read(ctx, c.Kube, c.Owner)
	if err != nil {
		return err
	}
	if unfinished != nil {
		if err := restore.SameLost(c.Owner, unfinished, o.lost); err != nil {
			return err
		}
		file, err := restore.SurvivorFileOf(ctx, c.Owner, unfinished, o.file)
		if err != nil {
			return err
		}
		return restoring.Do(ctx, a, file, target, o.Options, restoring.Recovery{})
	}
	if err := change.Unfinished(ctx, a, c); err != nil {
		return err
	}
	file, found, err := saveSurvivor(ctx, a, c, target, o)
	if err != nil {
		return err
	}
	return restoring.Do(ctx, a, file, target, o.Options, found)
}

// saveSurvivor judges the cluster, and saves the data of the member that has applied most.
func saveSurvivor(ctx context.Context, a *app.App, c *app.Cluster, target string, o options) (file string, found restoring.Recovery, err error) {
	survivors, message, err := judgeSurvivors(ctx, a, c, o.lost)
	if err != nil {
		return "", found, err
	}
	cluster, err := a.Cluster(ctx, target)
	if err != nil {
		return "", found, err
	}
	defer cluster.Close()
	survey, err := cluster.Members.Survey(ctx)
	if err != nil {
		return "", found, err
	}
	best, err := restore.Furthest(c.Owner, survey, survivors)
	if err != nil {
		return "", found, err
	}
	order, err := backup.ChooseMembers(ctx, cluster.Owner, cluster.Members, best.Pod, a.Warn)
	if err != nil {
		return "", found, err
	}
	tool := restore.Plan{Owner: c.Owner, Tool: o.Tool, Etcd: best.Version}
	if !c.OfDruid() { // the plan of an Etcd may need no tool
		if err := tool.CheckTool(ctx); err != nil { // before another file is written
			return "", found, err
		}
	}
	file = cmp.Or(o.file, restore.SurvivorFile(c.Owner, a.Clock.Now()))
	if _, err := change.NewSaver(a, cluster, order, change.SaveRetries, change.SaveIdle).ToFile(ctx, file, file, false); err != nil {
		return "", found, err
	}
	a.Step("Saved and verified the data of %s: %s. Keep it until the cluster is healthy", best.Pod, file)
	found.Facts = []string{message, fmt.Sprintf("%s has applied most: revision %d, index %d", best.Pod, best.Revision, best.RaftApplied)}
	found.Lost, found.Revision = o.lost, best.Revision
	found.Judge = func(ctx context.Context) error {
		now, _, err := judgeSurvivors(ctx, a, c, o.lost)
		if err == nil && !slices.Equal(now, survivors) {
			err = restore.RefuseRecovery(c.Owner, "%s answered before, and %s now: run the command again", policy.List(survivors), policy.List(now))
		}
		return err
	}
	return file, found, nil
}

// judgeSurvivors reads the facts and evaluates the rule. message is the verdict.
func judgeSurvivors(ctx context.Context, a *app.App, c *app.Cluster, lost []string) (survivors []string, message string, err error) {
	var verdict policy.Verdict
	err = restoring.AskAgain(ctx, a, func() (again bool, err error) {
		survivors, verdict, err = judgeOnce(ctx, a, c, lost)
		return verdict.Reason == rules.SurvivorSilent || verdict.Reason == rules.NoSurvivor, err
	})
	switch {
	case err != nil:
		return nil, "", err
	case verdict.Reason == rules.SurvivorSilent:
		return nil, "", restore.RefuseRecovery(c.Owner, "%s. To see why it does not answer: kubectl etcd diagnose %s -n %s", verdict.Message, c.Target(), c.Namespace)
	case !verdict.Allowed:
		return nil, "", restore.RefuseRecovery(c.Owner, "%s", verdict.Message)
	}
	return survivors, verdict.Message, nil
}

// judgeOnce asks each member once.
func judgeOnce(ctx context.Context, a *app.App, c *app.Cluster, lost []string) ([]string, policy.Verdict, error) {
	source, err := a.Source()
	if err != nil {
		return nil, policy.Verdict{}, err
	}
	line := a.NewStatusLine()
	source.Progress = line.Show
	f := source.Facts(ctx, c.Owner, health.DiagnosisChecks())
	line.End()
	if err := context.Cause(ctx); err != nil {
		return nil, policy.Verdict{}, err
	}
	survivors, verdict := rules.MayRecover(f.Recovery(), lost)
	return survivors, verdict, nil
}
