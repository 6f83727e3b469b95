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
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// restoreOptions are the flags of snapshot restore.
type restoreOptions struct {
	change.Flags
	restorePlanOptions

	// abort undoes an unfinished restore.
	abort bool
	// discard deletes the old data that restores keep.
	discard bool
}

func newRestoreCommand(a *app.App) *cobra.Command {
	o := restoreOptions{Flags: change.Flags{Timeout: time.Hour}}
	cmd := &cobra.Command{
		Use:   "restore FILE|URL|- TARGET | TARGET --abort | TARGET --discard",
		Short: "Restore a snapshot into a cluster",
		Long: ui.Paragraphs(`
			Restore a snapshot into a cluster. All data of the cluster is replaced, and everything
			written after the snapshot is lost. The command shows how much that is, as far as members
			answer, and asks for the name of the cluster.

			For a StatefulSet, the command checks the snapshot, saves the present data if a member
			answers, makes the data directories on your machine, cuts client traffic, stops all members,
			renames the old data in the volumes, copies the new data, and starts the members as a new
			cluster. When all members have one cluster ID and equal data, it restores client traffic. For
			a druid cluster, it copies the snapshot into the backup store, from which the sidecars
			restore it. The commands are those that snapshot restore-plan prints.

			The command needs etcdutl of the members' minor release on your machine. The restore raises
			the revision by 1000000000 and marks all revisions before it as compacted, so that clients
			with watches notice the change of the data. To prevent that, use --bump-revision 0.

			The command keeps its progress in ConfigMap kubectl-etcd-NAME. After an interruption, run the
			same command again to continue, or use --abort to start the members on their old data again.
			--abort is possible until clients are let in. It never chooses a snapshot, and it doesn't start other
			writers of the StatefulSet, such as Helm or GitOps: keep them away while it runs.

			A cut of client traffic that was there before stays in force until its own end.

			A restore keeps the old data under another name, and records it on the cluster. --discard lists the
			old data of all restores, asks for the name of the cluster, and deletes it. It refuses while a change
			is unfinished or the cluster is not healthy. --keep-old-for sets a deadline, after which
			kubectl etcd sweep --remove deletes it, too. Nothing deletes it automatically.`),
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
			if err := o.validate(cmd, len(args)); err != nil {
				return err
			}
			if o.discard {
				return runDiscard(cmd.Context(), a, args[0], o)
			}
			return runRestore(cmd, a, args[0], args[len(args)-1], o)
		},
	}
	addRestoreFlags(cmd, &o.restorePlanOptions)
	cmd.Flags().BoolVar(&o.abort, "abort", false, "Undo an unfinished restore: start the members on their old data again")
	cmd.Flags().BoolVar(&o.discard, "discard", false, "Delete the old data that restores of the cluster keep")
	change.AddFlags(cmd, &o.Flags)
	cmd.MarkFlagsMutuallyExclusive("abort", "discard")
	return cmd
}

func (o restoreOptions) validate(cmd *cobra.Command, args int) error {
	given := cmd.Flags().Changed
	switch {
	case o.abort && args != 1:
		return errors.New("--abort needs no snapshot: leave out FILE")
	case o.discard && args != 1:
		return errors.New("--discard needs no snapshot: leave out FILE")
	case o.discard && (given("bump-revision") || given("replicas") || given("keep-old-for") || given("tool")):
		return errors.New("--discard restores nothing: leave out --bump-revision, --replicas, --keep-old-for and --tool")
	case !o.abort && !o.discard && args != 2:
		return errors.New("FILE and TARGET are required")
	case o.abort && (given("bump-revision") || given("replicas") || given("keep-old-for")):
		return errors.New("--abort starts the members as they were: leave out --bump-revision, --replicas and --keep-old-for")
	}
	return o.restorePlanOptions.validate()
}

// runRestore restores a file, or continues or undoes a restore of it.
func runRestore(cmd *cobra.Command, a *app.App, file, target string, o restoreOptions) error {
	ctx := cmd.Context()
	if !o.abort {
		local, clean, err := localCopy(ctx, a, file)
		if corrupt, ok := errors.AsType[*snapshot.CorruptError](err); ok {
			return app.Unhealthy("%v", corrupt)
		}
		if err != nil {
			return err
		}
		defer clean()
		file = local
	}
	return restoreFile(cmd, a, file, target, o, recovery{})
}

// restoreFile restores a local file.
func restoreFile(cmd *cobra.Command, a *app.App, file, target string, o restoreOptions, found recovery) error {
	t, err := newRestoreTask(cmd, a, file, target, o)
	if err != nil {
		return err
	}
	t.recovery = found
	if err := change.Do(cmd.Context(), a, t.cluster, o.Flags, t.operation()); err != nil {
		return err
	}
	return t.follow(cmd.Context())
}

// localCopy returns a file of this machine with the snapshot of a URL or of stdin, and a function that
// removes it. A file is its own copy.
func localCopy(ctx context.Context, a *app.App, arg string) (file string, clean func(), err error) {
	if arg != "-" {
		return download(ctx, a, arg)
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

// follow runs the changes that come after the restore, which take the lock themselves.
func (t *restoreTask) follow(ctx context.Context) error {
	if t.abort || !t.ended {
		return nil
	}
	for _, s := range t.steps {
		if !s.After {
			continue
		}
		t.app.Notef("%s. %s", s.Title, s.Why)
		for _, act := range s.Acts {
			if err := act.Do(ctx, t.job.Clients); err != nil {
				return fmt.Errorf("the restore has ended, and the cluster runs with one member. %s: %w; then run %s", s.Title, err, act.Command(t.plan.Flags))
			}
		}
	}
	return nil
}
