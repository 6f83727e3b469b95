// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package recover implements kubectl etcd recover.
package recover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
)

// options are the flags of recover.
type options struct{ restoring.Source }

// NewCommand returns the command recover.
func NewCommand(a *app.App) *cobra.Command {
	o := options{restoring.Source{Options: restoring.Options{Flags: change.Flags{Timeout: time.Hour}}}}
	cmd := &cobra.Command{
		Use:   "recover TARGET",
		Short: "Recover a lost quorum from a member that has its data",
		Long: ui.Paragraphs(`
			Recover a cluster that has lost its quorum, from a member that still answers, or from the volume of
			one that doesn't. The command finds out which members have their data. It refuses while enough members for a quorum
			may come back: nothing is lost when they do, and kubectl etcd diagnose shows how to bring them back.

			If the data of too many members is lost, the command saves the data of the member that has
			applied most to a file in the current directory, and verifies it. Then it restores this
			file as kubectl etcd snapshot restore does: all members stop, and start as one new cluster.
			Their old data stays under another name. Data that only lost members had is lost.
			If several members answer and their data differs, it refuses, and shows how to save
			the data of each. Then choose one of them with --member. It also refuses if the Leases of the
			backups show that a backup has a higher revision than that member. To restore the member's data
			anyway, use --member.

			Without a quorum, an etcd that has restarted answers no client, even if its data is whole. Name such
			members with --from-volume. A pod that can't change the volume copies the data to a temporary
			directory of this machine, which only you can read. An etcd of this machine applies the log of the
			copy, and listens on no port. The result is saved to a file. If several members are named, the command saves each,
			and restores the one with the highest revision. A member can't know whether the last entries of its log were
			committed, and etcd leaves those out. The pod is deleted at the end, and the member stays as it is.

			Declare each lost member with --lost, after you have made sure that it can't come back. The command
			can't verify this. It does not force the deletion of a pod. It refuses before it changes anything if
			a member is on a node that is not Ready. The same holds for the volume of a member without a pod. It
			also refuses if no node can start a member with its volume, or enough members at the same time. It
			judges the cluster again after you have confirmed the plan, when it continues, and directly before
			it stops the members.

			It never deletes the data of a member, and it never chooses a backup: if no member has its data, use
			kubectl etcd snapshot restore. It doesn't stop other writers of the StatefulSet, such as Helm or
			GitOps: keep them away while it runs. After an interruption, run the same command in the same
			directory again, or use --abort to start the members on their old data again. --abort is refused
			once the volume claim of a lost member is replaced. Once the members have stopped, no member answers after
			--abort: what was saved is in the file. --dry-run changes nothing in the cluster, but
			also saves the data to a file.`),
		Example: ui.Examples(`
			# Show what would be done
			kubectl etcd recover etcd-main --dry-run=client

			# Show which members answer, and what is known of the others
			kubectl etcd diagnose etcd-main

			# The disks of two of three members are gone
			kubectl etcd recover etcd-main --lost etcd-main-1,etcd-main-2 --reason "two nodes with local disks lost"

			# The same, and the third member has restarted since, so that it does not answer
			kubectl etcd recover etcd-main --lost etcd-main-1,etcd-main-2 --from-volume etcd-main-0`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return run(cmd.Context(), a, args[0], o)
		},
	}
	restoring.AddFlags(cmd, &o.PlanOptions)
	restoring.AddLost(cmd, &o.PlanOptions)
	cmd.Flags().StringVar(&o.Member, "member", "", "Pod of the member whose data is restored. The default is the one that has applied most")
	cmd.Flags().StringVar(&o.File, "save-to", "", "File for the data of that member. The default is a new file in the current directory")
	cmd.Flags().StringSliceVar(&o.Volumes, "from-volume", nil, "Pods of members that don't answer and whose data is read from their volumes")
	cmd.Flags().StringVar(&o.Etcd, "etcd", "etcd", "Program etcd of the members' minor release, for --from-volume")
	cmd.Flags().BoolVar(&o.Abort, "abort", false, "Undo an unfinished recovery: start the members on their old data again. All other flags are ignored")
	restoring.AddResume(cmd, &o.Options)
	change.AddFlags(cmd, &o.Flags)
	cmd.MarkFlagsMutuallyExclusive("abort", "resume")
	return cmd
}

// validate checks the flags.
func (o options) validate() error {
	switch {
	case len(o.Volumes) > 0 && o.DryRun != change.DryRunNone:
		return errors.New("--dry-run can't be used with --from-volume: only a pod of the cluster can read a volume")
	case len(o.Volumes) > 1 && o.File != "":
		return errors.New("--save-to names one file, and --from-volume names several members: leave out --save-to")
	}
	for _, pod := range o.Volumes {
		if slices.Contains(o.Lost, pod) {
			return fmt.Errorf("%s is in --lost and in --from-volume: it is lost only if its volume is", pod)
		}
	}
	return o.Validate()
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
		return goOn(ctx, a, c, unfinished, target, o)
	}
	if err := change.Unfinished(ctx, a, c); err != nil {
		return err
	}
	if o.Resume {
		a.Notef("%s", restoring.NothingToResume(c.Owner))
		return nil
	}
	if err := change.May(ctx, a, c, o.Flags, restore.StopNeeds(c.Owner)); err != nil {
		return err
	}
	file, found, err := o.Save(ctx, a, c, target)
	if err != nil {
		return err
	}
	return restoring.Do(ctx, a, file, target, o.Options, found)
}

// goOn continues an unfinished recovery, with the file that it began with.
func goOn(ctx context.Context, a *app.App, c *app.Cluster, unfinished *progress.Record, target string, o options) error {
	err := cmp.Or(
		survivor.SameLost(c.Owner, unfinished, o.Lost),
		survivor.SameSource(c.Owner, unfinished.Survivor, o.Member),
		survivor.SameRead(c.Owner, unfinished.Read, o.Volumes),
	)
	if err != nil {
		return err
	}
	file, err := survivor.FileOf(ctx, c.Owner, unfinished, o.File)
	if err != nil && unfinished.Journal().ScaleTo > 0 { // its snapshot is not needed any more
		err = change.Unfinished(ctx, a, c)
	}
	if err != nil {
		return err
	}
	return restoring.Do(ctx, a, file, target, o.Options, restoring.Recovery{})
}
