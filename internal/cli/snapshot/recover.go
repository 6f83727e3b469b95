// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// recoverOptions are the flags of recover.
type recoverOptions struct {
	restoreOptions

	// lost are the pods of the members whose data is lost for good.
	lost []string
	// file is where the data of the survivor is saved, empty for a name in the current directory.
	file string
}

// NewRecoverCommand returns the command recover.
func NewRecoverCommand(a *app.App) *cobra.Command {
	o := recoverOptions{restoreOptions: restoreOptions{Flags: change.Flags{Timeout: time.Hour}}}
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
			if o.abort {
				return runRestore(cmd, a, "", args[0], o.restoreOptions)
			}
			if err := o.restorePlanOptions.validate(); err != nil {
				return err
			}
			return runRecover(cmd, a, args[0], o)
		},
	}
	addRestoreFlags(cmd, &o.restorePlanOptions)
	cmd.Flags().StringSliceVar(&o.lost, "lost", nil, "Pods of members whose data is lost for good, although their volumes seem to exist")
	cmd.Flags().StringVar(&o.file, "save-to", "", "File for the data of the member that has applied most. The default is a new file in the current directory")
	cmd.Flags().BoolVar(&o.abort, "abort", false, "Undo an unfinished recovery: start the members on their old data again")
	change.AddFlags(cmd, &o.Flags)
	return cmd
}

// runRecover restores the data of a survivor, or continues that.
func runRecover(cmd *cobra.Command, a *app.App, target string, o recoverOptions) error {
	ctx := cmd.Context()
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	unfinished, err := restore.Read(ctx, c.Kube, c.Owner)
	if err != nil {
		return err
	}
	if unfinished != nil {
		file, err := savedFor(ctx, c, unfinished, o.file)
		if err != nil {
			return err
		}
		return restoreFile(cmd, a, file, target, o.restoreOptions, recovery{})
	}
	if err := change.Unfinished(ctx, a, c); err != nil {
		return err
	}
	file, found, err := saveSurvivor(cmd, a, c, target, o)
	if err != nil {
		return err
	}
	return restoreFile(cmd, a, file, target, o.restoreOptions, found)
}

// recovery is what the plan of a recovery has beside that of a restore. The zero value is a restore.
type recovery struct {
	// facts are for the plan.
	facts []string
	// lost are the pods of members whose volumes are lost.
	lost []string
	// revision is that of the member that has applied most.
	revision int64
	// judge returns an error if the cluster is not to be recovered any more.
	judge func(ctx context.Context) error
}

// saveSurvivor judges the cluster, and saves the data of the member that has applied most.
func saveSurvivor(cmd *cobra.Command, a *app.App, c *app.Cluster, target string, o recoverOptions) (file string, found recovery, err error) {
	ctx := cmd.Context()
	survivors, message, err := judgeSurvivors(ctx, a, c, o.lost)
	if err != nil {
		return "", found, err
	}
	cluster, err := a.Cluster(ctx, target)
	if err != nil {
		return "", found, err
	}
	defer cluster.Close()
	best, err := furthest(ctx, cluster, survivors)
	if err != nil {
		return "", found, err
	}
	order, err := backup.ChooseMembers(ctx, cluster.Owner, cluster.Members, best.Pod, a.Warn)
	if err != nil {
		return "", found, err
	}
	file = cmp.Or(o.file, savedName(c, a.Clock.Now()))
	if _, err := newSaver(a, cluster, order, saveOptions{retries: 2, idle: 30 * time.Second}).fill(ctx, file, file, false); err != nil {
		return "", found, err
	}
	a.Step("Saved and verified the data of %s: %s. Keep it until the cluster is healthy", best.Pod, file)
	found.facts = []string{message, fmt.Sprintf("%s has applied most: revision %d, index %d", best.Pod, best.Revision, best.RaftApplied)}
	found.lost, found.revision = o.lost, best.Revision
	found.judge = func(ctx context.Context) error {
		now, _, err := judgeSurvivors(ctx, a, c, o.lost)
		if err == nil && !slices.Equal(now, survivors) {
			err = app.Refused("cannot recover %s: %s answered before, and %s now: run the command again", c.Owner, policy.List(survivors), policy.List(now))
		}
		return err
	}
	return file, found, nil
}

// judgeSurvivors reads the facts and evaluates the rule. message is the verdict.
func judgeSurvivors(ctx context.Context, a *app.App, c *app.Cluster, lost []string) (survivors []string, message string, err error) {
	source, err := a.Source()
	if err != nil {
		return nil, "", err
	}
	line := a.NewStatusLine()
	source.Progress = line.Show
	f := source.Facts(ctx, c.Owner, health.DiagnosisChecks())
	line.End()
	if err := context.Cause(ctx); err != nil {
		return nil, "", err
	}
	survivors, verdict := rules.MayRecover(f.Recovery(), lost)
	if !verdict.Allowed {
		return nil, "", app.Refused("cannot recover %s: %s", c.Owner, verdict.Message)
	}
	return survivors, verdict.Message, nil
}

// furthest returns the survivor that has applied most. It has all that the others have. Each of them must
// answer, and one that reports corrupt data is no source.
func furthest(ctx context.Context, c *app.Cluster, survivors []string) (etcd.Member, error) {
	survey, err := c.Members.Survey(ctx)
	if err != nil {
		return etcd.Member{}, err
	}
	var best etcd.Member
	for _, pod := range survivors {
		i := slices.IndexFunc(survey.Members, func(m etcd.Member) bool { return m.Pod == pod && m.Err == nil })
		switch {
		case i < 0:
			return best, app.Refused("cannot recover %s: %s no longer answers, and may have applied most; run the command again", c.Owner, pod)
		case slices.Contains(survey.Members[i].Alarms, "CORRUPT"):
			return best, app.Refused("cannot recover %s: %s reports that its data is corrupt; restore a backup, or save the data of another member with kubectl etcd snapshot save %s FILE --member POD -n %s and restore that file", c.Owner, pod, c.Target(), c.Namespace)
		case best.Pod == "" || survey.Members[i].RaftApplied > best.RaftApplied:
			best = survey.Members[i]
		}
	}
	return best, nil
}

// savedName is the file of a survivor's data.
func savedName(c *app.Cluster, at time.Time) string {
	return fmt.Sprintf("%s-%s-survivor-%s.db", c.Namespace, c.Name, at.UTC().Format("20060102T150405Z"))
}

// savedFor returns the file that an unfinished recovery restores: the named one, or one in the current
// directory.
func savedFor(ctx context.Context, c *app.Cluster, rec *restore.Record, named string) (string, error) {
	files, err := filepath.Glob(fmt.Sprintf("%s-%s-survivor-*.db", c.Namespace, c.Name))
	if err != nil {
		return "", err
	}
	for _, file := range append(files, named) {
		content, err := snapshot.Inspect(ctx, file)
		if err == nil && rec.Same(file, content) == nil {
			return file, nil
		}
	}
	return "", app.Refused("a restore into %s is unfinished, and the current directory doesn't have its snapshot (SHA-256 %s): continue it with kubectl etcd snapshot restore FILE %s -n %s, or undo it with kubectl etcd recover %s --abort -n %s",
		c.Owner, rec.SHA256, c.Target(), c.Namespace, c.Target(), c.Namespace)
}
