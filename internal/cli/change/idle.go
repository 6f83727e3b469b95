// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
)

// readsJournal are the permissions to see whether a change of members is under way.
func readsJournal(c *app.Cluster) []operate.Need {
	if !journal.Kept(c.Owner) {
		return nil
	}
	return []operate.Need{{Verb: "get", Resource: "configmaps", Namespace: c.Namespace, Name: journal.Name(c.Owner)}}
}

// idle returns an error while a change of members is unfinished, for an operation that must
// not come between its steps.
func idle(ctx context.Context, e *app.App, c *app.Cluster, op Operation) error {
	if op.AllowsUnfinished || c == nil {
		return nil
	}
	return Unfinished(ctx, e, c)
}

// Unfinished returns an error that says how to continue or undo the unfinished change of
// members, and nil where there is none.
func Unfinished(ctx context.Context, e *app.App, c *app.Cluster) error {
	if !journal.Kept(c.Owner) {
		return nil
	}
	under, err := membership.ReadUnderWay(ctx, c.Kube, c.Owner)
	j := under.Change
	if err != nil || j == nil {
		return err
	}
	way := j.Resume(c.Owner) + " -n " + c.Namespace + " goes on with it"
	if !j.Undo {
		way += ", " + j.Abort(c.Owner) + " -n " + c.Namespace + " takes it back"
	}
	if under.Alive(e.Clock.Now()) && under.Holder.Identity != app.Identity(e.User) {
		way = fmt.Sprintf("%s is at it, so wait until that ends; if it has died, %s", under.Holder.Identity, way)
	}
	return app.Refused("kubectl etcd %s is under way on %s (%s) since %s: %s",
		j.Verb(), c.Owner, j.Summary(c.Owner), j.Journal.Began.Format("2006-01-02 15:04 MST"), way)
}
