// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup/stored"
)

func newRestoreCommand(a *app.App) *cobra.Command {
	o := restoring.Options{Flags: change.Flags{Timeout: time.Hour}}
	var (
		store   storeFlags
		discard bool
	)
	cmd := &cobra.Command{
		Use:     "restore FILE|URL|- TARGET | TARGET --abort | TARGET --discard",
		Short:   "Restore a snapshot into a cluster",
		Long:    restoreHelp.Long,
		Example: restoreHelp.Example,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := validateRestore(cmd, len(args), o, discard); err != nil {
				return err
			}
			if discard {
				return runDiscard(cmd.Context(), a, args[0], o)
			}
			return runRestore(cmd, a, args[0], args[len(args)-1], o, store)
		},
	}
	restoring.AddFlags(cmd, &o.PlanOptions)
	restoring.AddAllowUnsaved(cmd, &o.PlanOptions)
	restoring.AddLost(cmd, &o.PlanOptions)
	cmd.Flags().BoolVar(&o.FromOther, "from-other-cluster", false, "With -y, restore even if the file beside the snapshot shows that it is of another cluster")
	store.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&o.Abort, "abort", false, "Undo an unfinished restore: start the members on their old data again. FILE and the other flags have no effect")
	cmd.Flags().BoolVar(&discard, "discard", false, "Delete the old data that restores of the cluster keep")
	restoring.AddResume(cmd, &o)
	change.AddFlags(cmd, &o.Flags)
	cmd.MarkFlagsMutuallyExclusive("abort", "discard", "resume")
	return cmd
}

func validateRestore(cmd *cobra.Command, args int, o restoring.Options, discard bool) error {
	given := cmd.Flags().Changed
	switch {
	case discard && args != 1:
		return errors.New("--discard needs no snapshot: leave out FILE")
	case discard && slices.ContainsFunc([]string{"bump-revision", "replicas", "keep-old-for", "tool", "allow-unsaved", "lost", "from-other-cluster"}, given):
		return errors.New("--discard restores nothing: leave out --bump-revision, --replicas, --keep-old-for, --tool, --allow-unsaved, --lost and --from-other-cluster")
	case o.Resume && args != 2:
		return errors.New("--resume needs the snapshot that the restore began with, as FILE: kubectl etcd status TARGET shows the command")
	case !o.Abort && !discard && args != 2:
		return errors.New("FILE and TARGET are required")
	}
	return o.Validate()
}

// runRestore restores a file, or continues or undoes a restore of it.
func runRestore(cmd *cobra.Command, a *app.App, file, target string, o restoring.Options, store storeFlags) error {
	ctx := cmd.Context()
	if o.Abort {
		file = ""
	} else {
		local, clean, err := localCopy(ctx, a, file, store, o.Flags)
		if err != nil {
			return err
		}
		defer clean()
		o.Given, file = file, local
	}
	return restoring.Do(cmd.Context(), a, file, target, o, restoring.Recovery{})
}

// localCopy returns a file of this machine with the snapshot of a URL or of stdin, and a function that
// removes it. A file is its own copy. Nothing is copied for a change that the user can't confirm.
func localCopy(ctx context.Context, a *app.App, arg string, store storeFlags, f change.Flags) (file string, clean func(), err error) {
	at, err := store.of(a).Object(arg)
	if err == nil && (at != nil || arg == "-") {
		err = change.MayAsk(a, f)
	}
	if err != nil {
		return "", nil, err
	}
	if arg != "-" {
		return store.of(a).Download(ctx, arg)
	}
	return stored.FromStdin(a.In)
}
