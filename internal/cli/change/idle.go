// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
)

// ReadsJournal returns the permissions to read whether a change of members is unfinished.
func ReadsJournal(c *app.Cluster) []operate.Need {
	if !journal.CanExist(c.Owner) {
		return nil
	}
	return []operate.Need{{Verb: "get", Resource: "configmaps", Namespace: c.Namespace, Name: journal.Name(c.Owner)}}
}

// idle returns an error if a change of members is unfinished and the operation must not run
// between its steps.
func idle(ctx context.Context, e *app.App, c *app.Cluster, op Operation) error {
	if op.AllowsUnfinished || c == nil {
		return nil
	}
	if op.AllowsAwaited && journal.CanExist(c.Owner) {
		if awaits, err := membership.ReadAwaiting(ctx, c.Kube, c.Owner); err != nil || awaits != nil {
			return err
		}
	}
	return Unfinished(ctx, e, c)
}

// Unfinished returns an error with the commands that continue or undo the unfinished change of
// members, or end the unfinished restart. It returns nil if there is none.
func Unfinished(ctx context.Context, e *app.App, c *app.Cluster) error {
	if !journal.CanExist(c.Owner) {
		return nil
	}
	under, err := membership.ReadUnderWay(ctx, c.Kube, c.Owner)
	if err != nil {
		return err
	}
	return unfinishedIn(e, c, under)
}

// UnfinishedFor returns what Unfinished returns, for a change of one member of etcd's list, which has so many members.
// It returns nil if what is unfinished can't be about that member.
func UnfinishedFor(ctx context.Context, e *app.App, c *app.Cluster, l etcd.Listed, members int) error {
	if !journal.CanExist(c.Owner) {
		return nil
	}
	under, err := membership.ReadUnderWay(ctx, c.Kube, c.Owner)
	if err != nil || !under.Concerns(c.Owner, l, members) {
		return err
	}
	return unfinishedIn(e, c, under)
}

// UnfinishedCut returns what Unfinished returns, for the end of a cut of client traffic. It returns nil for an operation that cuts
// none: a change of members can go on only when the traffic is restored.
func UnfinishedCut(ctx context.Context, e *app.App, c *app.Cluster) error {
	if !journal.CanExist(c.Owner) {
		return nil
	}
	under, err := membership.ReadUnderWay(ctx, c.Kube, c.Owner)
	if err != nil || !under.CutsTraffic() {
		return err
	}
	return app.Refused("clients would reach a cluster that is changed half-way: %v. That operation restores client traffic at its end", unfinishedIn(e, c, under))
}

func unfinishedIn(e *app.App, c *app.Cluster, under membership.UnderWay) error {
	j := under.Change
	switch {
	case under.Other != nil && under.Holder.SeemsAlive(e.Clock.Now()) && under.Holder.Identity != app.Identity(e.User):
		return app.Refused("%s: %s is running kubectl etcd %s, so wait until it ends; if that process no longer exists, %s",
			c.Owner, under.Holder.Identity, under.Other.Kind, membership.WaysOf(c.Owner, under.Other))
	case under.Other != nil:
		return app.Refused("%s: %s", c.Owner, membership.UnfinishedOther(c.Owner, under.Other))
	case j == nil:
		return nil
	}
	how := j.Ways(c.Owner)
	if under.Holder.SeemsAlive(e.Clock.Now()) && under.Holder.Identity != app.Identity(e.User) {
		how = fmt.Sprintf("%s is running it, so wait until it ends; if that process no longer exists, %s", under.Holder.Identity, how)
	}
	what := fmt.Sprintf("kubectl etcd %s on %s (%s)", j.Verb(), c.Owner, j.Summary(c.Owner))
	return app.Refused("%s", membership.Unfinished(what, j.Journal(), how))
}
