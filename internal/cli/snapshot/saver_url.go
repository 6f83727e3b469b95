// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup/stored"
)

// toURL saves the snapshot to the store of a URL, renews the lease, and then deletes snapshots that are too many.
func (s *saver) toURL(ctx context.Context, cmd *cobra.Command, w *stored.Writer, lease string) error {
	if err := s.requireLease(ctx, lease); err != nil {
		return err
	}
	if err := w.Open(ctx); err != nil {
		return err
	}
	defer w.Close()
	out, err := w.Save(ctx)
	if err != nil {
		return err
	}
	if err := s.print(cmd, out); err != nil {
		return err
	}
	if lease != "" {
		if err := stored.Renew(ctx, s.cluster.Kube, s.Owner.Namespace, lease, s.Started, out.Revision); err != nil {
			return fmt.Errorf("the snapshot is stored, but not recorded: %w", err)
		}
	}
	if err := w.Prune(ctx, out); err != nil {
		return app.Incomplete("the new snapshot is stored, but old ones stay: %v", err)
	}
	return nil
}

// requireLease returns an error if the user may not renew a Lease: the whole transfer would be in vain. A Lease that does
// not exist is no reason to take no backup.
func (s *saver) requireLease(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	patch := operate.NeedIn(s.Owner.Namespace)("patch", "coordination.k8s.io", "leases", "", name)
	return change.RequireOnly(ctx, s.app, s.cluster.Kube, []operate.Need{patch})
}
