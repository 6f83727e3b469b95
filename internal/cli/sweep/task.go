// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install/uninstall"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/olddata"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/sweep"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// task is one run of sweep.
type task struct {
	app     *app.App
	options options
	sweeper *sweep.Sweeper
	scope   sweep.Scope
	// state and items are of the last judgement.
	state *sweep.State
	items []sweep.Item
}

func newTask(ctx context.Context, a *app.App, target string, o options) (*task, error) {
	kube, err := a.Quiet() // the webhook would warn about each budget that it maintains
	if err != nil {
		return nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, err
	}
	access, err := a.Access()
	if err != nil {
		return nil, err
	}
	t := &task{app: a, options: o}
	if !o.allNamespaces {
		namespace, err := a.Namespace()
		if err != nil {
			return nil, err
		}
		if t.scope, err = sweep.ScopeOf(ctx, reader, namespace, target); err != nil {
			return nil, err
		}
	}
	t.sweeper = &sweep.Sweeper{
		Kube: kube, Reader: reader, Clock: a.Clock, Flags: a.ContextFlags(), Login: a.Credentials.AsArgs(), Logf: a.Step,
		Webhook: uninstall.Left{Kube: kube, Reader: reader, Clock: a.Clock, Flags: a.ContextFlags()},
		Waiting: func(h lock.Holder, watch time.Duration) { change.Watching(a, h, watch) },
		Removed: t.announce, Discard: t.discard,
		Survey: func(ctx context.Context, o owner.Owner) (etcd.Survey, error) { return access.Survey(ctx, reader, o) },
	}
	return t, nil
}

// remove removes what is left over through the driver of changes.
func (t *task) remove(ctx context.Context) error {
	err := change.Do(ctx, t.app, nil, t.options.Flags, change.Operation{
		Subject: "what is left over", Detaches: true, Judge: t.judge, Act: t.act,
		DryRun: func(ctx context.Context) error { return t.sweeper.Try(ctx, t.items) },
		Next:   func(error) string { return "completed steps stay. Run the same command again to continue" },
	})
	if err == nil && t.state != nil {
		return unknown(t.state)
	}
	return err
}

func (t *task) judge(ctx context.Context) (operate.Plan, error) {
	state, err := t.sweeper.Observe(ctx, t.scope)
	if err != nil {
		return operate.Plan{}, err
	}
	t.state = state
	t.items, err = state.Removable(t.options.claims)
	return sweep.Plan(t.items), err
}

func (t *task) act(ctx context.Context, run *change.Run) error {
	if err := t.sweeper.Remove(ctx, t.items); err != nil {
		return err
	}
	if t.options.Wait {
		if err := t.sweeper.AwaitGone(ctx, t.items); err != nil {
			return err
		}
	}
	run.Print("What was left over is removed.")
	return nil
}

// discard removes the old data that some records of a cluster's restores are about, as snapshot restore --discard
// does. With dry it only judges.
func (t *task) discard(ctx context.Context, o owner.Owner, due olddata.Records, dry bool) error {
	c := &app.Cluster{Owner: o, Reader: t.sweeper.Reader, Kube: t.sweeper.Kube}
	return change.DiscardRecords(ctx, t.app, c, t.options.Flags, t.options.image, due, dry)
}

// announce records the removal as an Event on the cluster, if it exists.
func (t *task) announce(ctx context.Context, item *sweep.Item) {
	if item.Owner == nil {
		return
	}
	c := &app.Cluster{Owner: *item.Owner, Reader: t.sweeper.Reader, Kube: t.sweeper.Kube}
	change.Announce(ctx, t.app, c, reasons.LeftoverRemoved, "removed what was left over: "+item.Object(), t.options.Flags)
}
