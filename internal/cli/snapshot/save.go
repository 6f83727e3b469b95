// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup/stored"
)

// saveOptions are the flags of snapshot save.
type saveOptions struct {
	member  string
	force   bool
	retries int
	idle    time.Duration
	via     snapshotVia
	change  change.Flags
	// keep is the number of snapshots that stay in the folder of a URL. 0 is all.
	keep  int
	store storeFlags
	// lease is the name of the Lease to renew when the snapshot is stored.
	lease string
}

// snapshotVia is the value of --via.
type snapshotVia string

const (
	viaMember  snapshotVia = "member"
	viaDefault snapshotVia = "backup-restore" // a full snapshot
	viaFull    snapshotVia = "backup-restore=full"
	viaDelta   snapshotVia = "backup-restore=delta"
)

// kind returns the kind of snapshot to write into the store.
func (v snapshotVia) kind() backup.Kind {
	if v == viaDelta {
		return backup.Delta
	}
	return backup.Full
}

func newSaveCommand(a *app.App) *cobra.Command {
	o := saveOptions{via: viaMember, change: change.Flags{Timeout: time.Hour}}
	cmd := &cobra.Command{
		Use:     "save TARGET [FILE | URL | -]",
		Short:   "Save a verified snapshot to a file, a bucket, stdout, or druid's backup store",
		Long:    saveHelp.Long,
		Example: saveHelp.Example,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			if err := o.validate(cmd, file); err != nil {
				return err
			}
			if o.via != viaMember {
				return runSaveToStore(cmd, a, args[0], o.via.kind(), o.change)
			}
			if !cmd.Flags().Changed("timeout") {
				o.change.Timeout = 0 // a transfer that goes on may take as long as it needs
			}
			title := "save a snapshot of " + args[0]
			return change.Limited(cmd.Context(), o.change, title, saveAgain, func(ctx context.Context) error {
				return runSave(ctx, cmd, a, args[0], file, o)
			})
		},
	}
	o.addTo(cmd)
	return cmd
}

// saveAgain returns how to go on after a save that ended early: what it had transferred is removed.
func saveAgain(error) string { return "run the same command again" }

// addTo adds the flags to the command.
func (o *saveOptions) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.member, "member", "", "Pod of the member that provides the snapshot. The default is the best follower")
	flags.BoolVar(&o.force, "force", false, "Replace FILE and FILE.json, or the object of URL, if they exist")
	flags.IntVar(&o.keep, "keep", 0, "Number of snapshots of the cluster to keep in the folder of URL, which ends with a slash. 0 keeps all")
	flags.StringVar(&o.lease, "renew-lease", "", "Lease in the namespace of the cluster that records the backup. It must exist")
	o.store.addTo(flags)
	flags.IntVar(&o.retries, "retries", change.SaveRetries, "Number of retries after a failed transfer")
	flags.DurationVar(&o.idle, "idle-timeout", change.SaveIdle, "Time without data after which a transfer fails")
	ui.AddEnum(cmd, flags, &o.via, "via", "method", "How to take the snapshot: member, or backup-restore[=full|delta] for the sidecar of a druid cluster",
		viaMember, viaDefault, viaFull, viaDelta)
	ui.AddOutputFlags(cmd)
	change.AddFlags(cmd, &o.change)
	flags.Lookup("timeout").DefValue += " with --via, none without it"
}

// validate checks combinations of flags.
func (o *saveOptions) validate(cmd *cobra.Command, file string) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	switch {
	case o.via != viaMember && (file != "" || given("member") || o.force):
		return fmt.Errorf("--via %s saves to the cluster's backup store: FILE, --member and --force can't be used with it", o.via)
	case o.via == viaMember && (given("dry-run") || given("reason")):
		return errors.New("--dry-run and --reason can only be used with --via backup-restore: a snapshot of a member changes nothing but the Lease of --renew-lease")
	case !o.change.Wait:
		return change.ErrWait
	case o.retries < 0:
		return fmt.Errorf("--retries is %d, and can't be less than 0", o.retries)
	}
	keep := &o.keep
	if !given("keep") {
		keep = nil
	}
	return stored.CheckRotation(file, keep, o.lease)
}
