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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Require returns an error if the user lacks a permission for a change of a cluster. It also
// checks the permissions for the lock and the Event.
func Require(ctx context.Context, e *app.App, c *app.Cluster, needs []operate.Need) error {
	return RequireOnly(ctx, e, c.Kube, append(lock.Needs(c.Owner), needs...))
}

// RequireOnly returns an error if permissions are missing. Unlike Require, it adds none for the lock and the Event.
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

// hold takes the cluster's lock for an operation. The limit bounds the wait for it. The
// caller releases the lock and works under its context.
func hold(ctx context.Context, limit app.Limit, a *app.App, c *app.Cluster, operation string, f Flags) (*lock.Lock, error) {
	user, err := a.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	// The lock lives as long as the context that it is acquired with, so that context
	// may end only while the lock is awaited.
	lifetime, end := context.WithCancelCause(ctx)
	wait, stop := limit.Context(ctx)
	defer stop()
	watched := context.AfterFunc(wait, func() { end(context.Cause(wait)) })
	held, err := lock.Acquire(lifetime, c.Kube, c.Owner, lock.Claim{
		Operation: operation, Holder: app.Identity(user), Reason: f.Reason, Clock: a.Clock,
		Waiting: func(h lock.Holder, watch time.Duration) { Watching(a, h, watch) },
	})
	watched()
	if err != nil {
		end(nil)
		return nil, err
	}
	if held.Previous != nil {
		a.Warn("took over the lock of %s, which did not renew it. That operation may be incomplete.", *held.Previous)
	}
	return held, nil
}

// Watching reports that the command waits to learn whether a lock's holder is alive.
func Watching(e *app.App, h lock.Holder, watch time.Duration) {
	e.Notef("The cluster is locked by %s. Waiting up to %s for a sign that it is still running.", h, policy.Duration(watch))
}

// Release releases a lock. A failure is only a warning, because the lock expires by itself.
func Release(ctx context.Context, e *app.App, held *lock.Lock) {
	if err := held.Release(ctx); err != nil && !app.Is[*lock.LostError](err) {
		e.Warn("%v.", err)
	}
}

// Announce records a change as an Event on the cluster, with its user and reason. A failure is
// only a warning.
func Announce(ctx context.Context, e *app.App, c *app.Cluster, reason policy.Reason, what string, ch Flags) {
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
