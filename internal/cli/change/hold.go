// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Require fails, before a command's first act, when the user lacks permissions
// for it. Those for the lock and the Event are asked for with them.
func Require(ctx context.Context, e *app.App, c *app.Cluster, needs []operate.Need) error {
	return RequireOnly(ctx, e, c.Kube, append(operate.LockNeeds(c.Owner), needs...))
}

// RequireOnly is require for what concerns no cluster.
func RequireOnly(ctx context.Context, e *app.App, kube client.Client, needs []operate.Need) error {
	missing, err := operate.Missing(ctx, kube, needs)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	user, err := e.Whoami(ctx)
	if err != nil {
		return err
	}
	return &operate.MissingError{User: user, Needs: missing}
}

// Hold takes the cluster's lock for an operation. The caller releases it with
// release, and works under the lock's context. A dry run needs none.
func Hold(ctx context.Context, e *app.App, c *app.Cluster, operation string, ch Flags) (*operate.Lock, error) {
	user, err := e.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := operate.Acquire(ctx, c.Kube, c.Owner, operate.Claim{
		Operation: operation, Holder: app.Identity(user), Reason: ch.Reason, Clock: e.Clock,
		Waiting: func(h operate.Holder, watch time.Duration) { Watching(e, h, watch) },
	})
	if err != nil {
		return nil, err
	}
	if lock.TookOver != nil {
		e.Warn("took over the lock of %s, which was no longer renewed: that operation may be half done.", *lock.TookOver)
	}
	return lock, nil
}

// Watching says that a lock's holder may be dead.
func Watching(e *app.App, h operate.Holder, watch time.Duration) {
	fmt.Fprintf(e.ErrOut, "The cluster is locked by %s; watching for up to %s whether that is still alive.\n", h, watch)
}

// Release gives a lock back. That it can't is only told: the lock ends by itself.
func Release(ctx context.Context, e *app.App, lock *operate.Lock) {
	if err := lock.Release(ctx); err != nil && !app.Is[*operate.LostError](err) {
		e.Warn("%v.", err)
	}
}

// Announce records on the cluster who did what, and why.
func Announce(ctx context.Context, e *app.App, c *app.Cluster, reason, what string, ch Flags) {
	user, err := e.Whoami(ctx)
	if err == nil {
		message := fmt.Sprintf("%s, by %s with kubectl etcd", what, user)
		if ch.Reason != "" {
			message += ": " + ch.Reason
		}
		err = operate.Announce(context.WithoutCancel(ctx), c.Kube, c.Owner, reason, message)
	}
	if err != nil {
		e.Warn("%v.", err)
	}
}
