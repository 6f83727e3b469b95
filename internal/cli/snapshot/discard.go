// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// runDiscard deletes the old data that restores of a cluster keep.
func runDiscard(ctx context.Context, a *app.App, target string, o restoring.Options) error {
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	d, err := change.Discard(a, c, o.Image, nil)
	if err != nil {
		return err
	}
	return change.Do(ctx, a, c, o.Flags, change.Operation{
		Verb: "snapshot restore",
		Judge: func(ctx context.Context) (operate.Plan, error) {
			d.Plan.Owner = c.Owner
			return d.Judge(ctx)
		},
		Act: func(ctx context.Context, run *change.Run) error {
			d.StillHeld = run.Held
			done, err := d.Act(ctx)
			if err != nil {
				return err
			}
			run.Done(ctx, reasons.OldDataDiscarded, done.String(), fmt.Sprintf("%s: %s", c.Target(), done))
			return nil
		},
		Next: func(error) string {
			return "what was deleted is gone, and the rest stays. Run the same command again to continue"
		},
	})
}
