// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// Journaled is what operations with a journal have in common: a later command can continue them.
type Journaled struct {
	// Fresh is true if this command plans the operation, and false if the journal held it before.
	Fresh bool
	// begun is true if this command has written the journal.
	begun bool
}

// Begin writes the journal of a fresh operation with write, after it has added the user and the
// reason.
func (j *Journaled) Begin(ctx context.Context, run *Run, entry *journal.Journal, write func(context.Context) error) error {
	if !j.Fresh {
		return nil
	}
	entry.By, entry.Reason = app.Identity(run.app.User), run.flags.Reason
	if err := write(ctx); err != nil {
		return err
	}
	j.begun = true
	return nil
}

// Next returns how to continue after a run that ended early. It returns nothing if the journal, if
// there is one, is of another command. abort is what --abort does.
func (j *Journaled) Next(c *app.Cluster, abort string) string {
	if j.Fresh && !j.begun {
		return ""
	}
	return fmt.Sprintf("run the same command again to continue, or add --abort to %s (journal: ConfigMap %s)", abort, journal.Name(c.Owner))
}
