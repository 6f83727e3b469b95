// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// require fails, before a command's first act, when the user lacks permissions
// for it. Those for the lock and the Event are asked for with them.
func (e *env) require(ctx context.Context, c *cluster, needs []operate.Need) error {
	return e.requireOnly(ctx, c.kube, append(operate.LockNeeds(c.Owner), needs...))
}

// requireOnly is require for what concerns no cluster.
func (e *env) requireOnly(ctx context.Context, kube client.Client, needs []operate.Need) error {
	missing, err := operate.Missing(ctx, kube, needs)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	user, err := e.whoami(ctx)
	if err != nil {
		return err
	}
	return &operate.MissingError{User: user, Needs: missing}
}

// hold takes the cluster's lock for an operation. The caller releases it with
// release, and works under the lock's context. A dry run needs none.
func (e *env) hold(ctx context.Context, c *cluster, operation string, ch change) (*operate.Lock, error) {
	user, err := e.whoami(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := operate.Acquire(ctx, c.kube, c.Owner, operate.Claim{
		Operation: operation, Holder: identity(user), Reason: ch.reason, Clock: e.clock,
		Waiting: func(h operate.Holder, watch time.Duration) { e.watching(h, watch) },
	})
	if err != nil {
		return nil, err
	}
	if lock.TookOver != nil {
		e.warn("took over the lock of %s, which was no longer renewed: that operation may be half done.", *lock.TookOver)
	}
	return lock, nil
}

// watching says that a lock's holder may be dead.
func (e *env) watching(h operate.Holder, watch time.Duration) {
	fmt.Fprintf(e.ErrOut, "The cluster is locked by %s; watching for up to %s whether that is still alive.\n", h, watch)
}

// release gives a lock back. That it can't is only told: the lock ends by itself.
func (e *env) release(ctx context.Context, lock *operate.Lock) {
	if err := lock.Release(ctx); err != nil && !is[*operate.LostError](err) {
		e.warn("%v.", err)
	}
}

// announce records on the cluster who did what, and why.
func (e *env) announce(ctx context.Context, c *cluster, reason, what string, ch change) {
	user, err := e.whoami(ctx)
	if err == nil {
		message := fmt.Sprintf("%s, by %s with kubectl etcd", what, user)
		if ch.reason != "" {
			message += ": " + ch.reason
		}
		err = operate.Announce(context.WithoutCancel(ctx), c.kube, c.Owner, reason, message)
	}
	if err != nil {
		e.warn("%v.", err)
	}
}

// whoami is the user's name as the API server knows it, impersonation included.
func (e *env) whoami(ctx context.Context) (string, error) {
	if e.user != "" {
		return e.user, nil
	}
	kube, err := e.client()
	if err != nil {
		return "", err
	}
	var review authenticationv1.SelfSubjectReview
	if err := kube.Create(ctx, &review); err != nil {
		return "", fmt.Errorf("ask the API server who you are: %w", err)
	}
	e.user = cmp.Or(review.Status.UserInfo.Username, "unknown")
	return e.user, nil
}

// identity names this process among all that may hold a lock.
func identity(user string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s at %s (pid %d)", user, host, os.Getpid())
}
