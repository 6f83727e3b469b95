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

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

const (
	// reconcileLimit is what a reconciliation of druid's gets before its refusal counts:
	// one that fails goes on for ever.
	reconcileLimit = time.Minute
	// protectionSettles is how much longer than anybody else druid's webhook may take an
	// Etcd to be in reconciliation: it reads a cache.
	protectionSettles = 3 * time.Second
	// writeRetryPeriod is the time between two attempts.
	writeRetryPeriod = time.Second
)

// WriteUnderProtection does a write to an object of druid's. While druid reconciles the Etcd, its
// protection denies that also to those whom it exempts, so it is tried again until druid
// is done. The error is the last refusal, or whatever else the write came to.
func WriteUnderProtection(ctx context.Context, kube client.Reader, o observe.Owner, c clock.Clock, write func() error) error {
	began := c.Now()
	idle := time.Time{} // since when druid is done, zero while it isn't
	for {
		err := write()
		if err == nil || o.Flavour != observe.Druid || !deniedByDruid(err) {
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

// deniedByDruid says whether druid's protection of its objects refused a write.
func deniedByDruid(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "webhooks.druid.gardener.cloud")
}

// reconciling says whether druid is at work on an Etcd, as far as that can be read.
func reconciling(ctx context.Context, kube client.Reader, o observe.Owner) bool {
	etcd, err := operate.ReadEtcd(ctx, kube, o)
	return err == nil && etcd.IsReconciliationInProgress()
}
