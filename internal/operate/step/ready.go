// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
)

// AwaitReady waits until members that agree are ready. It doesn't wait while an alarm is in force, since a readiness
// probe may fail until a user has ended that.
type AwaitReady struct {
	Wait

	// Target is the cluster.
	Target string
}

// Command implements Action.
func (a AwaitReady) Command(f Flags) string { return a.Wait.Command(f) + "\n" + show(f, a.Target) }

// Do implements Action.
func (a AwaitReady) Do(ctx context.Context, c Clients) error {
	why, err := c.Etcd.Unready(ctx)
	switch {
	case err != nil:
		return err
	case why == "":
		return a.Wait.Do(ctx, c)
	case c.Warn != nil:
		c.Warn("This step does not wait until the members are ready: %s.", why)
	}
	return nil
}

// Explained is an action with the likely cause for the case that its time passes.
type Explained struct {
	Action

	Cause string
}

// Do implements Action.
func (e Explained) Do(ctx context.Context, c Clients) error {
	err := e.Action.Do(ctx, c)
	if errors.Is(err, errTimeout) {
		return fmt.Errorf("%w: %s", err, e.Cause)
	}
	return err
}
