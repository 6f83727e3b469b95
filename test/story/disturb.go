// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"

	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// PlayDisturbed plays the steps with these numbers on their own testbed, and removes the testbed
// afterwards. In the middle of each step, it restarts the API server and etcd-webhook.
func PlayDisturbed(ctx context.Context, o testbed.Options, numbers ...int) (err error) {
	defer func() { err = errors.Join(err, testbed.Down(context.WithoutCancel(ctx), o)) }()
	tb, err := testbed.Up(ctx, o)
	if err != nil {
		return err
	}
	w, err := Open(tb, NewPrinter(o.Log, false), o.Log)
	if err != nil {
		return err
	}
	w.Disturb = RestartEverything(w)
	return Play(ctx, w, numbers...)
}

// RestartEverything kills every replica of etcd-webhook at once and restarts the API
// server while they come back.
func RestartEverything(w *World) func(context.Context, string) error {
	return func(ctx context.Context, step string) error {
		w.Do("in the middle of step %q: kill etcd-webhook, restart the API server", step)
		pods, err := install.Replicas(ctx, w.Client)
		if err != nil {
			return err
		}
		if err := install.Kill(ctx, w.Client, pods...); err != nil {
			return err
		}
		if err := w.Testbed.StopAPIServer(ctx); err != nil {
			return err
		}
		return w.Testbed.StartAPIServer(ctx)
	}
}
