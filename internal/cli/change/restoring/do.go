// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
)

// Recovery is what the plan of a recovery has beside that of a restore. The zero value is a restore.
type Recovery struct {
	// Facts are for the plan.
	Facts []string
	// Survivor is the pod of the member whose data is restored. Revision is the highest of all that answered.
	Survivor string
	Revision int64
	// Read are the pods of the members whose data was read from their volumes.
	Read []string
	// Backup is the highest revision of the backups, if the survivor lacks it. It is 0 otherwise.
	Backup int64
	// Judge returns an error if the cluster is not to be recovered any more.
	Judge func(ctx context.Context) error
}

// Do restores the snapshot in a local file, or continues or undoes a restore of it.
func Do(ctx context.Context, a *app.App, file, target string, o Options, found Recovery) error {
	t, err := newTask(ctx, a, file, target, o)
	if err != nil {
		return err
	}
	t.recovery = found
	return change.Do(ctx, a, t.cluster, o.Flags, t.operation())
}

// follow runs the changes that come after the restore, which take the lock themselves. The limit is that of the restore.
func (t *task) follow(ctx context.Context, limit app.Limit) error {
	t.limit = limit
	if t.Abort || !t.ended {
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
