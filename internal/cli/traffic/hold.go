// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// stay waits until the cut ends: its time is over, the user interrupts, or
// somebody else ended it. An end that was moved meanwhile is followed.
func (t *clientTraffic) stay(ctx context.Context) error {
	fmt.Fprintf(t.env.ErrOut, "Staying until %s; Ctrl-C restores now.\n", clockTime(t.until))
	told := false
	for t.now().Before(t.until) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cut ends before %s: %w", clockTime(t.until), context.Cause(ctx))
		case <-t.env.Clock.After(min(2*time.Second, max(t.until.Sub(t.now()), time.Millisecond))):
		}
		cut, by, err := t.look(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && !told:
			t.env.Warn("%v; trying again.", err)
			told = true
		case err == nil && !cut && by == kubeclient.FieldManager:
			t.env.Step("Somebody else ended the cut")
			return nil
		case err == nil && !cut:
			return app.Unhealthy("the cut of client traffic of %s is lost before its time: %q wrote Service %s without it", t.Owner, by, t.list())
		}
	}
	return nil
}

// look reads the Services again: whether any is still cut, and who last wrote their
// selectors.
func (t *clientTraffic) look(ctx context.Context) (cut bool, by string, err error) {
	var last time.Time
	for _, name := range t.names() {
		var s corev1.Service
		err := t.Kube.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: name}, &s)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, "", fmt.Errorf("read Service %s: %w", name, err)
		}
		by = traffic.LastWriter(&s)
		if until, has := observe.CutUntil(&s, t.now()); has {
			cut = true
			if until.After(last) {
				last = until
			}
		}
	}
	if cut && !last.Equal(t.until) {
		t.until = last
		t.env.Step("Somebody moved the end of the cut to %s", clockTime(last))
	}
	return cut, by, nil
}

// end restores what this command cut, whatever became of it.
func (t *clientTraffic) end(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreLimit)
	defer cancel()
	failed := change.RestoreTraffic(ctx, t.env, t.Cluster, t.names())
	if failed != nil {
		t.env.Warn("client traffic is NOT restored; try again: %s", t.restoreCommand())
		return errors.Join(err, failed)
	}
	change.Announce(ctx, t.env, t.Cluster, "ClientTrafficRestored", "client traffic through Service "+t.list()+" restored", t.Change)
	t.forget(ctx)
	return err
}

// forget takes the record of the cut away, unless somebody has the cluster's lock:
// then it stays, and says of a cut that has ended who made it.
func (t *clientTraffic) forget(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	held, err := lock.Acquire(ctx, t.Kube, t.Owner, lock.Claim{Operation: traffic.RestoreOperation, Holder: app.Identity(t.env.User), Clock: t.env.Clock})
	if err != nil {
		return
	}
	defer change.Release(ctx, t.env, held)
	if err := traffic.WriteRecord(ctx, held, nil); err != nil {
		t.env.Warn("%v.", err)
	}
}
