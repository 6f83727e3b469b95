// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// restoreTimeout is how long a restore may take that no flag bounds.
const restoreTimeout = 30 * time.Second

// Cut writes the cut into every Service or none, under the cluster's lock. Before that it
// records who cuts. The cut lasts as long as was agreed, from now on.
func (c *Cluster) Cut(ctx context.Context, held *lock.Lock, r Request) error {
	if end := c.endOf(r); end.Sub(c.until) > 2*time.Second {
		c.until = end // the user agreed to a length, and the answer took time
	}
	record := Record{Services: c.Names(), Until: c.until, Holder: c.Holder, Reason: r.Reason}
	if err := WriteRecord(ctx, held, &record); err != nil {
		return err
	}
	_, before := c.cutUntil()
	if sent, err := c.cutAll(ctx, held); err != nil {
		if !before {
			c.undo(ctx, held, err, sent)
		}
		return err
	}
	c.left = "client traffic stays cut. Run the same command again to wait until no endpoint is ready, or restore it: " + c.RestoreCommand()
	c.Announce(ctx, policy.ClientTrafficCut, fmt.Sprintf("client traffic through Service %s cut until %s", c.list(), format.Time(c.until)))
	return nil
}

// cutAll suspends the operator if that is needed and writes the cut. It returns to how many
// Services the cut was sent, with the one that failed: an interrupted write may still take
// effect.
func (c *Cluster) cutAll(ctx context.Context, held *lock.Lock) (sent int, err error) {
	if !c.maintained && c.suspends() {
		if err := suspend(ctx, c.Kube, c.Owner); err != nil {
			return 0, err
		}
	}
	for i := range c.Services.Chosen {
		s := &c.Services.Chosen[i]
		err := held.StillHeld()
		if err == nil {
			err = c.write(ctx, func() error { return writeCut(ctx, c.Kube, s, c.until) })
		}
		if err != nil {
			return i + 1, err
		}
		c.Logf("Service %s is cut until %s", s.Name, format.Time(c.until))
	}
	return len(c.Services.Chosen), nil
}

// undo removes the cut from the Services to which it was sent, because one couldn't be cut.
func (c *Cluster) undo(ctx context.Context, held *lock.Lock, err error, sent int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	c.Services.Chosen = c.Services.Chosen[:sent]
	failed := c.RestoreAll(ctx, c.Names())
	if outcomeUnknown(err) {
		// The API server may still be about to accept the write.
		<-c.Clock.After(writeGrace)
		failed = c.RestoreAll(ctx, c.Names())
	}
	if failed != nil {
		c.left = "client traffic may still be cut: " + c.RestoreCommand()
		c.Warnf("%v; try again: %s.", failed, c.RestoreCommand())
		return
	}
	c.left = "no client traffic is cut. Run the same command again"
	if err := WriteRecord(ctx, held, nil); err != nil {
		c.Warnf("%v.", err)
	}
}

// writeGrace is how long a write may take whose answer is no longer awaited.
const writeGrace = 2 * time.Second

// outcomeUnknown reports whether a write may have taken effect although it returned an error.
func outcomeUnknown(err error) bool {
	var status apierrors.APIStatus
	if errors.Is(err, errChanged) {
		return false
	}
	return !errors.As(err, &status) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err)
}
