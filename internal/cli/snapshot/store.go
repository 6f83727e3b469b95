// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// runSaveToStore has a druid cluster write a snapshot into its backup store.
func runSaveToStore(cmd *cobra.Command, a *app.App, target string, kind backup.Kind, f change.Flags) error {
	ctx := cmd.Context()
	c, _, err := a.ClusterBestEffort(ctx, target) // a user who may not use etcd may still request a backup
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := storeOf(a, c)
	if err != nil {
		return err
	}
	out := &v1alpha1.SnapshotList{Cluster: backup.Reference(c.Owner), Items: []v1alpha1.StoredSnapshot{}}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "snapshot save", AllowsUnfinished: true,
		Judge: func(ctx context.Context) (operate.Plan, error) {
			s.Owner, s.Members = c.Owner, c.Members
			return s.Judge(ctx, kind, f.DryRun == change.DryRunClient)
		},
		DryRun: func(ctx context.Context) error { return s.Try(ctx, kind) },
		Act: func(ctx context.Context, run *change.Run) error {
			taken, err := s.Take(ctx, kind)
			if taken.Snapshot != nil {
				out.Items = append(out.Items, taken.Snapshot.Output())
			}
			if err == nil && taken.What != "" {
				run.Done(ctx, reasons.SnapshotTaken, taken.What, "")
			}
			return err
		},
		Next: func(err error) string {
			if !app.IsTimeout(err) && !errors.Is(err, context.Canceled) {
				return ""
			}
			return fmt.Sprintf("it may still be written: kubectl etcd snapshot list %s -n %s", c.Target(), c.Namespace)
		},
		After: func(context.Context, app.Limit) error {
			out.Store = backup.StoreOutput(s.Store)
			return a.Print(cmd, out, render.TakenSnapshots(a.Console, out, a.Clock.Now()))
		},
	})
}

// storeOf returns the backup store of a cluster, which isn't found yet.
func storeOf(a *app.App, c *app.Cluster) (*backup.Store, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	return &backup.Store{
		Owner: c.Owner, Kube: c.Kube, Reader: c.Reader, Members: c.Members, Tunnel: tunnel.New(config), Clock: a.Clock,
		Require: func(ctx context.Context, needs []operate.Need) error { return change.Require(ctx, a, c, needs) },
		Logf:    a.Step, Warnf: a.Warn,
		Progressf: a.Notef,
	}, nil
}
