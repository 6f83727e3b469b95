// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup/stored"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// runSave saves a snapshot of a member to a file or to stdout.
func runSave(ctx context.Context, cmd *cobra.Command, a *app.App, target, file string, o saveOptions) error {
	if file == "-" {
		if err := checkStdout(a, cmd); err != nil {
			return err
		}
	}
	stores := o.store.of(a)
	location, err := stores.Object(file)
	if err != nil {
		return err
	}
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := checkNotDefragmenting(ctx, a, c); err != nil {
		return err
	}
	order, err := backup.ChooseMembers(ctx, c.Owner, c.Members, o.member, a.Warn)
	if app.Is[*backup.UnusableError](err) {
		return app.Unhealthy("%v", err)
	}
	if err != nil {
		return err
	}
	s := &saver{change.NewSaver(a, c, order, o.retries, o.idle), a, c}
	if file == "-" {
		return s.toStdout(ctx)
	}
	if location != nil {
		return s.toURL(ctx, cmd, &stored.Writer{Saver: s.Saver, Reports: stores.Reports, To: *location, Force: o.force, Keep: o.keep}, o.lease)
	}
	if file == "" {
		file = fmt.Sprintf("%s-%s-%s.db", c.Namespace, c.Name, s.Started.UTC().Format("20060102T150405Z")) //nolint:forbidigo // a file name
	}
	return s.toFile(ctx, cmd, file, o.force)
}

// checkNotDefragmenting returns an error if this plugin defragments the cluster.
func checkNotDefragmenting(ctx context.Context, a *app.App, c *app.Cluster) error {
	return lock.CheckHeld(ctx, c.Kube, c.Owner, []string{"defrag"}, func(h lock.Holder, watch time.Duration) { change.Watching(a, h, watch) })
}

func checkStdout(a *app.App, cmd *cobra.Command) error {
	if ui.FormatOf(cmd) != "table" {
		return errors.New("-o can't be used with -: the snapshot itself goes to stdout")
	}
	if _, ok := ui.Terminal(a.Out); ok {
		return errors.New("stdout is a terminal, and a snapshot is binary data: use FILE or a pipe")
	}
	return nil
}

// saver saves one snapshot, and prints it.
type saver struct {
	*backup.Saver

	app     *app.App
	cluster *app.Cluster
}

// toStdout writes the snapshot to stdout, and its size and hash to stderr.
func (s *saver) toStdout(ctx context.Context) error {
	got, err := s.Fetch.ToWriter(ctx, s.app.Out)
	s.End()
	if err != nil {
		return fmt.Errorf("the output is not a valid snapshot: %w", err)
	}
	s.app.Step("Sent %d bytes with the correct hash: SHA-256 %x of the first %d bytes", got.Size, got.SHA256, got.Size-32)
	return nil
}

func (s *saver) toFile(ctx context.Context, cmd *cobra.Command, file string, force bool) error {
	out, err := s.ToFile(ctx, file, file, force)
	if err != nil {
		return err
	}
	return s.print(cmd, out)
}

// print prints the snapshot that was saved.
func (s *saver) print(cmd *cobra.Command, out *v1alpha1.Snapshot) error {
	s.app.Step("Saved and verified %s", out.File)
	return s.app.Print(cmd, out, render.Snapshot(s.app.Console, out))
}
