// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot/trial"
)

// verifyOptions are the flags of snapshot verify.
type verifyOptions struct {
	restore    bool
	tool, etcd string
	store      storeFlags
}

func newVerifyCommand(a *app.App) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify FILE | URL | TARGET",
		Short: "Check a snapshot, and start an etcd from it with --restore",
		Long: ui.Paragraphs(`
			Check a snapshot as snapshot status does. With --restore, also prove that it can be
			restored: restore it into a temporary directory of this machine, and start a throw-away
			etcd from it. Show what that etcd answers: its revision, keys, size, biggest prefixes,
			leases, alarms and hash. The command compares revision and keys with those of the file.

			FILE and URL are those of snapshot status. The URL of a folder selects its newest snapshot.
			TARGET is a cluster with a schedule of snapshot schedule, and selects the newest snapshot in the
			folder of the schedule. The credentials for it come from your environment. For a name that is also
			a file, the file is used: write statefulset/NAME for the cluster.

			--restore needs two programs on this machine, of the same minor release as the members: etcdutl
			and etcd. The snapshot contains all data of the cluster, so only you can read the directory, and
			etcd listens on sockets in it and on no port. If authentication was on, it is off in the copy. The
			directory is below TMPDIR, needs room for the whole database, and is removed at the end, even
			after Ctrl-C.

			Exit codes: 0 the snapshot is complete, 3 it is damaged, 1 error. A program or a disk of this machine
			that fails is an error, and shows nothing about the snapshot.`),
		Example: ui.Examples(`
			# Start an etcd from a snapshot and show what it has
			kubectl etcd snapshot verify main.db --restore

			# The newest snapshot of a schedule, with programs of another folder
			kubectl etcd snapshot verify statefulset/etcd-main --restore --tool ./etcdutl --etcd ./etcd

			# Print the biggest prefix
			kubectl etcd snapshot verify main.db --restore -o jsonpath='{.restored.prefixes[0].prefix}'`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !o.restore && (cmd.Flags().Changed("tool") || cmd.Flags().Changed("etcd")) {
				return errors.New("--tool and --etcd only have an effect with --restore")
			}
			return runVerify(cmd, a, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.restore, "restore", false, "Restore the snapshot into a temporary directory, and start an etcd from it")
	flags.StringVar(&o.tool, "tool", "etcdutl", "Program that restores: etcdutl, or etcdctl for etcd 3.4")
	flags.StringVar(&o.etcd, "etcd", "etcd", "Program etcd")
	o.store.addTo(flags)
	ui.AddOutputFlags(cmd)
	return cmd
}

func runVerify(cmd *cobra.Command, a *app.App, arg string, o verifyOptions) error {
	ctx := cmd.Context()
	if o.restore { // a download may take long
		var err error
		if o.tool, err = programPath(o.tool, "tool"); err != nil {
			return err
		}
		if o.etcd, err = programPath(o.etcd, "etcd"); err != nil {
			return err
		}
	}
	arg, err := newest(ctx, a, arg, o.store)
	if err != nil {
		return err
	}
	local, clean, err := o.store.of(a).Download(ctx, arg)
	if err != nil {
		return err
	}
	defer clean()
	out, content, err := backup.Inspect(ctx, local, a.Warn)
	if err != nil {
		return err
	}
	out.File = arg
	if o.restore {
		if out.Restored, err = tryRestore(ctx, a, local, content, o); app.Is[*trial.DamagedError](err) {
			return app.Unhealthy("%s: %v", arg, err)
		}
		if err != nil {
			return err
		}
		warnOfRelease(a, out)
	}
	return a.Print(cmd, out, render.Snapshot(a.Console, out))
}

// programPath returns the absolute path of a program: etcd runs in another directory.
func programPath(program, flag string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("program %s is not on this machine; install that of the members' minor release, or name it with --%s", program, flag)
	}
	return filepath.Abs(path)
}

// tryRestore starts an etcd from a snapshot.
func tryRestore(ctx context.Context, a *app.App, file string, content snapshot.File, o verifyOptions) (*v1alpha1.RestoredSnapshot, error) {
	t := trial.Trial{File: file, Content: content, Tool: o.tool, Etcd: o.etcd, Logf: a.Notef}
	r, err := t.Run(ctx)
	if err != nil {
		return nil, err
	}
	out := &v1alpha1.RestoredSnapshot{
		EtcdVersion: r.Version, Revision: r.Revision, Keys: r.Keys, Size: r.Size, SizeInUse: r.InUse,
		HashKV: fmt.Sprintf("%x", r.Hash), Leases: r.Leases, Alarms: r.Alarms,
	}
	for _, p := range r.Prefixes {
		out.Prefixes = append(out.Prefixes, v1alpha1.SnapshotPrefix{Prefix: strings.ToValidUTF8(p.Prefix, "\uFFFD"), Keys: p.Keys, Bytes: p.Bytes})
	}
	return out, nil
}
