// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

func newRestoreCommand(a *app.App) *cobra.Command {
	o := restoring.Options{Flags: change.Flags{Timeout: time.Hour}}
	var (
		store   storeFlags
		discard bool
	)
	cmd := &cobra.Command{
		Use:   "restore FILE|URL|- TARGET | TARGET --abort | TARGET --discard",
		Short: "Restore a snapshot into a cluster",
		Long: ui.Paragraphs(`
			Restore a snapshot into a cluster. All data of the cluster is replaced, and everything
			written after the snapshot is lost. The command shows how much that is, as far as members
			answer, and asks for the name of the cluster. If members run and none of them answers, also
			not after several tries, the command refuses: it could not save the present data, and could
			not check that the new revision is above all that clients have seen. --allow-unsaved allows
			it for members that can never answer again.

			If FILE.json exists beside the snapshot and shows that it is of another cluster, the command warns. -y does
			not confirm that: use --from-other-cluster with it. A cluster of the same name is another one if the UID of
			its object differs, and also etcd's cluster ID, or if that object existed already when the snapshot was taken.
			If only one of the IDs differs, the cluster may have been restored or created again since: the command
			only warns. In both cases, it does not count what is lost: revisions of two etcd clusters can't be compared.

			For a StatefulSet, the command checks the snapshot, saves the present data if a member
			answers, makes the data directories on your machine, cuts client traffic, stops all members,
			renames the old data in the volumes, copies the new data, and starts the members as a new
			cluster. When all members have one cluster ID and equal data, it restores client traffic. For
			a druid cluster, it copies the snapshot into the backup store, from which the sidecars
			restore it. The commands are those that snapshot restore-plan prints.

			The command needs etcdutl of the members' minor release on your machine, and room for the data
			of all members. If one of them is missing, it ends before any member stops. The restore raises
			the revision by 1000000000 and marks all revisions before it as compacted, so that clients
			with watches notice the change of the data. To prevent that, use --bump-revision 0.

			The command keeps its progress in ConfigMap kubectl-etcd-NAME. After an interruption, run the
			same command again to continue, or use --abort to start the members on their old data again.
			--abort is possible until clients can connect again, or until the volume claim of a member is replaced.

			A cut of client traffic that was there before stays in force until its own end.

			A restore keeps the old data under another name, and records it on the cluster. --discard lists the
			old data of all restores, asks for the name of the cluster, and deletes it. It refuses while a change
			is unfinished or the cluster is not healthy. --keep-old-for sets a deadline, after which
			kubectl etcd sweep --remove deletes it, too. Nothing deletes it automatically.

			The command never chooses a snapshot. It refuses to begin while a member is on a node that is not
			Ready. It doesn't stop other writers of the StatefulSet, such as Helm or GitOps: keep them away while
			it runs. It doesn't restart clients.`),
		Example: ui.Examples(`
			# Show what a restore would do
			kubectl etcd snapshot restore main.db etcd-main --dry-run=server

			# Restore a snapshot
			kubectl etcd snapshot restore main.db etcd-main --reason "bad migration"

			# Restore from a bucket, with the credentials of the environment
			kubectl etcd snapshot restore s3://backups/team-a/main.db etcd-main

			# Start the members on their old data again
			kubectl etcd snapshot restore etcd-main --abort

			# Restore, and let sweep delete the old data after a week
			kubectl etcd snapshot restore main.db etcd-main --keep-old-for 168h

			# Show the old data that restores keep, then delete it
			kubectl etcd snapshot restore etcd-main --discard --dry-run=client
			kubectl etcd snapshot restore etcd-main --discard`),
		Args: cobra.RangeArgs(1, 2),
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
	cmd.Flags().BoolVar(&o.FromOther, "from-other-cluster", false, "With -y, restore even if the file beside the snapshot shows that it is of another cluster")
	store.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&o.Abort, "abort", false, "Undo an unfinished restore: start the members on their old data again. FILE and the other flags have no effect")
	cmd.Flags().BoolVar(&discard, "discard", false, "Delete the old data that restores of the cluster keep")
	change.AddFlags(cmd, &o.Flags)
	cmd.MarkFlagsMutuallyExclusive("abort", "discard")
	return cmd
}

func validateRestore(cmd *cobra.Command, args int, o restoring.Options, discard bool) error {
	given := cmd.Flags().Changed
	switch {
	case discard && args != 1:
		return errors.New("--discard needs no snapshot: leave out FILE")
	case discard && (given("bump-revision") || given("replicas") || given("keep-old-for") || given("tool") || given("allow-unsaved") || given("from-other-cluster")):
		return errors.New("--discard restores nothing: leave out --bump-revision, --replicas, --keep-old-for, --tool, --allow-unsaved and --from-other-cluster")
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
		local, clean, err := localCopy(ctx, a, file, store)
		if err != nil {
			return err
		}
		defer clean()
		o.Given, file = file, local
	}
	return restoring.Do(cmd.Context(), a, file, target, o, restoring.Recovery{})
}

// localCopy returns a file of this machine with the snapshot of a URL or of stdin, and a function that
// removes it. A file is its own copy.
func localCopy(ctx context.Context, a *app.App, arg string, store storeFlags) (file string, clean func(), err error) {
	if arg != "-" {
		return download(ctx, a, arg, store)
	}
	dir, err := os.MkdirTemp("", "kubectl-etcd-")
	if err != nil {
		return "", nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) } // only a copy is left
	file = filepath.Join(dir, "stdin.db")
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600) //nolint:gosec // in a new directory
	if err == nil {
		_, err = io.Copy(to, a.In)
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		clean()
		return "", nil, fmt.Errorf("read the snapshot from stdin: %w", err)
	}
	return file, clean, nil
}
