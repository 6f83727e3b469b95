// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

func newMemberCmd(e *env) *cobra.Command {
	group := newGroupCmd("member", "See and change who etcd's members are",
		newMemberAddCmd(e),
		newMemberListCmd(e),
		newMemberPromoteCmd(e),
		newMemberRemoveCmd(e),
		newMemberReplaceCmd(e),
	)
	group.Example = examples(`
		# Give a pod that has lost its data a new member
		kubectl etcd member replace main-1

		# Take a dead member out of etcd
		kubectl etcd member remove statefulset/main 8e9e05c52164694d`)
	return group
}

// memberNeeds are the permissions that a change of etcd's members alone uses.
func memberNeeds(c *cluster) []operate.Need {
	return append([]operate.Need{
		{Verb: "list", Resource: "pods", Namespace: c.Namespace},
		{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: c.Namespace},
	}, readsJournal(c)...)
}

// readsJournal is what it takes to see whether a change of members is under way.
func readsJournal(c *cluster) []operate.Need {
	if !operate.Journalled(c.Owner) {
		return nil
	}
	return []operate.Need{{Verb: "get", Resource: "configmaps", Namespace: c.Namespace, Name: operate.JournalName(c.Owner)}}
}

// unmanaged refuses what the owner of a cluster's membership does itself.
func unmanaged(c *cluster, what string) error {
	if m := c.Membership(); m.Manager != observe.ByNobody {
		return refused("cannot %s %s: %s adds and removes its members; %s", what, c.Owner, m.Who, m.Way)
	}
	if c.ReadOnly() {
		return refused("cannot %s %s: its pods have no StatefulSet", what, c.Owner)
	}
	return nil
}

// idle refuses while a change of members is under way that takes several steps.
func (e *env) idle(ctx context.Context, c *cluster) error {
	if !operate.Journalled(c.Owner) {
		return nil
	}
	under, err := operate.ReadUnderWay(ctx, c.kube, c.Owner)
	j := under.Journal
	if err != nil || j == nil {
		return err
	}
	way := j.Resume(c.Owner) + " -n " + c.Namespace + " goes on with it"
	if !j.Undo {
		way += ", " + j.Abort(c.Owner) + " -n " + c.Namespace + " takes it back"
	}
	if under.Alive(e.clock.Now()) && under.Holder.Identity != identity(e.user) {
		way = fmt.Sprintf("%s is at it, so wait until that ends; if it has died, %s", under.Holder.Identity, way)
	}
	return refused("kubectl etcd %s is under way on %s (%s) since %s: %s",
		j.Verb(), c.Owner, j.Words(c.Owner), j.Began.Format("2006-01-02 15:04 MST"), way)
}

// holdIdle is hold for what must not come between the steps of a change of members:
// one may have been begun since the plan was made.
func (e *env) holdIdle(ctx context.Context, c *cluster, operation string, ch change) (*operate.Lock, error) {
	lock, err := e.hold(ctx, c, operation, ch)
	if err != nil {
		return nil, err
	}
	if err := e.idle(lock.Context(), c); err != nil {
		e.release(ctx, lock)
		return nil, err
	}
	return lock, nil
}

// memberTask is one change of etcd's member list.
type memberTask struct {
	change

	plan operate.Plan
	// verb is what the lock is for; event and what are the Event's reason and words.
	verb, event, what string
	act               func(ctx context.Context, members *etcd.Cluster, held func() error) error
}

// changeList asks, takes the lock, and does what the task says.
func (e *env) changeList(ctx context.Context, c *cluster, t memberTask) error {
	if t.dryRun != dryRunClient {
		if err := e.require(ctx, c, memberNeeds(c)); err != nil {
			return err
		}
	}
	yes, err := e.propose(ctx, c, t.plan, t.change)
	if err != nil || !yes {
		return err
	}
	if t.dryRun == dryRunServer {
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	ctx, cancel := within(ctx, t.timeout, t.plan.Title)
	defer cancel()
	lock, err := e.holdIdle(ctx, c, t.verb, t.change)
	if err != nil {
		return err
	}
	defer e.release(ctx, lock)
	if err := t.act(lock.Context(), c.members, lock.Held); err != nil {
		return err
	}
	e.announce(lock.Context(), c, t.event, t.what, t.change)
	fmt.Fprintf(e.Out, "%s: %s\n", c.Target(), t.what)
	return nil
}
