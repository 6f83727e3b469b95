// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

const (
	// reconcileLimit is how long a reconciliation of druid may deny writes: one that fails
	// never ends.
	reconcileLimit = time.Minute
	// protectionSettles is how long druid's webhook may deny writes after the end of a
	// reconciliation: it reads a cache.
	protectionSettles = 3 * time.Second
	// writeRetryPeriod is the time between two attempts.
	writeRetryPeriod = time.Second
)

// writeUnderProtection calls a function that writes an object of druid. While druid
// reconciles the Etcd, its protection also denies writes of users that it exempts. So the
// write is retried until druid is done. The error is that of the last write.
func writeUnderProtection(ctx context.Context, kube client.Reader, o owner.Owner, c clock.Clock, write func() error) error {
	began := c.Now()
	idle := time.Time{} // since when druid is done, zero while it isn't
	for {
		err := write()
		if err == nil || !o.IsEtcd() || !deniedByDruid(err) {
			return err
		}
		now := c.Now()
		switch {
		case reconciling(ctx, kube, o):
			idle = time.Time{}
		case idle.IsZero():
			idle = now
		}
		if now.Sub(began) > reconcileLimit || !idle.IsZero() && now.Sub(idle) > protectionSettles {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-c.After(writeRetryPeriod):
		}
	}
}

// deniedByDruid reports whether druid's protection of its objects refused a write.
func deniedByDruid(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "webhooks.druid.gardener.cloud")
}

// reconciling reports whether druid reconciles an Etcd, as far as that can be read.
func reconciling(ctx context.Context, kube client.Reader, o owner.Owner) bool {
	etcd, err := operate.ReadEtcd(ctx, kube, o)
	return err == nil && etcd.IsReconciliationInProgress()
}
