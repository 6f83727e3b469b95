// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// Maintained reports whether etcd-webhook maintains the cut and restores at its end.
func (c *Cluster) Maintained() bool { return c.maintained }

// MustHold reports whether this process has to restore the traffic.
func (c *Cluster) MustHold(r Request) bool { return !c.maintained && !r.Detach }

// Hold calls verify, waits until the cut ends, and restores the traffic, whatever happens.
// A ResidualError of verify is returned at the end.
func (c *Cluster) Hold(ctx context.Context, verify func(ctx context.Context) error) (err error) {
	defer func() { err = c.end(ctx, err) }()
	verdict := verify(ctx)
	if _, residual := errors.AsType[*ResidualError](verdict); verdict != nil && !residual {
		return verdict
	}
	return cmp.Or(c.awaitEnd(ctx), verdict)
}

// holdPeriod is the time between two reads of the Services.
const holdPeriod = 2 * time.Second

// awaitEnd waits until the cut ends: its time is over, the user interrupts, or other clients ended it for all
// Services. It follows an end that another client has moved. The error is a LostError if another client ended it for
// any Service.
func (c *Cluster) awaitEnd(ctx context.Context) error {
	unread := false
	var over uncut
	for c.now().Before(c.until) {
		if err := operate.Pause(ctx, c.Clock, min(holdPeriod, max(c.until.Sub(c.now()), time.Millisecond))); err != nil {
			return fmt.Errorf("the cut ends before %s: %w", format.Time(c.until), err)
		}
		now, err := c.readCut(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && !unread:
			c.Warnf("%v; trying again.", err)
			unread = true
		case err == nil:
			c.report(&over, now)
			if now.cut {
				continue
			}
			if now.gone {
				over.lost = append(over.lost, "no Service exists any more")
			}
			if len(over.lost) == 0 {
				c.Logf("Another command ended the cut")
			}
			return c.lost(over)
		}
	}
	c.Logf("The cut ended automatically: its time was over")
	return c.lost(over)
}

// stoppedBy returns the operation that has stopped members under the cut and has not ended, empty for none. Clients
// would reach members that it has not checked.
func (c *Cluster) stoppedBy(ctx context.Context) memberservices.Halfway {
	if c.StatefulSet == "" {
		return ""
	}
	sts, err := operate.ReadStatefulSet(ctx, c.Kube, c.Owner)
	if err != nil { // the write of the Services reports it
		return ""
	}
	return memberservices.HalfwayOf(sts)
}

// end restores the traffic, and adds a failure to the error of the hold.
func (c *Cluster) end(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	if halfway := c.stoppedBy(ctx); halfway != "" {
		c.left = fmt.Sprintf("client traffic stays cut: a %s of the cluster has not ended, and restores it at its end", halfway)
		return errors.Join(err, errors.New(c.left))
	}
	if failed := c.RestoreAll(ctx, c.Names()); failed != nil {
		c.left = "client traffic is not restored: " + c.RestoreCommand()
		c.Warnf("client traffic is NOT restored; try again: %s", c.RestoreCommand())
		return errors.Join(err, failed)
	}
	c.left = "client traffic is restored. Run the same command again to cut it again"
	c.Announce(ctx, reasons.ClientTrafficRestored, "client traffic through Service "+c.list()+" restored")
	c.deleteRecord(ctx)
	return err
}
