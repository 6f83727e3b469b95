// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// members changes who the members of a cluster are, as far as nobody else does.
func (e *env) members(c *cluster) (*operate.Members, error) {
	credentials, err := e.credentials.read(e)
	if err != nil {
		return nil, err
	}
	config, err := e.config()
	if err != nil {
		return nil, err
	}
	return &operate.Members{
		Kube: c.kube, Reader: c.reader, Owner: c.Owner, Tunnel: etcd.NewTunnel(config), Credentials: credentials,
		Clock: e.clock, Say: func(format string, args ...any) { e.sayStep(format, args...) },
	}, nil
}

// sayStep tells a step that was done, or, beginning with …, what is awaited.
func (e *env) sayStep(format string, args ...any) {
	if waits, ok := strings.CutPrefix(fmt.Sprintf(format, args...), "… "); ok {
		fmt.Fprintf(e.ErrOut, "%s %s\n", e.paint(e.ErrOut, yellow, "…"), waits)
		return
	}
	e.step(format, args...)
}

// membersTask is one run of an operation that may have been begun before.
type membersTask struct {
	change

	members *operate.Members
	journal *operate.Journal
	plan    operate.Plan
	// fresh says that nothing was written yet.
	fresh, undo bool
	// verb is what the lock is for; event and what are the Event's reason and
	// words, undone its reason where it was taken back.
	verb, event, undone, what string
	// again makes a fresh task's plan once more.
	again func(context.Context) (*operate.Journal, operate.Plan, error)
}

// confirm looks once more, under the lock, whether what was planned may still be
// done: somebody else may have ended or begun something while the user read.
func (t *membersTask) confirm(ctx context.Context, c *cluster) error {
	now, err := operate.ReadJournal(ctx, c.kube, c.Owner)
	switch {
	case err != nil:
		return err
	case t.fresh && now != nil:
		return refused("kubectl etcd %s (%s) was begun on %s meanwhile: see kubectl etcd status %s -n %s", now.Verb(), now.Words(c.Owner), c.Owner, c.Target(), c.Namespace)
	case t.fresh:
		return t.replan(ctx, c)
	case !t.journal.Same(now):
		return refused("what was under way on %s has ended meanwhile: see kubectl etcd status %s -n %s", c.Owner, c.Target(), c.Namespace)
	}
	t.journal = now
	return nil
}

func (t *membersTask) replan(ctx context.Context, c *cluster) error {
	journal, _, err := t.again(ctx)
	if err != nil {
		return err
	}
	if journal == nil || journal.Replicas != t.journal.Replicas || journal.Operation != t.journal.Operation {
		return changedMeanwhile(c)
	}
	t.journal = journal
	return nil
}

// changeMembers asks, takes the lock, and does what the task says.
func (e *env) changeMembers(ctx context.Context, c *cluster, t membersTask) error {
	if !t.wait {
		return refused("the steps are done by this command, so it can't leave before they are: leave --wait=false away")
	}
	if t.dryRun != dryRunClient {
		if err := e.require(ctx, c, t.members.MembersNeeds(t.journal)); err != nil {
			return err
		}
	}
	yes, err := e.propose(ctx, c, t.plan, t.change)
	if err != nil || !yes {
		return err
	}
	if t.dryRun == dryRunServer {
		if t.fresh {
			if err := t.members.Begin(ctx, t.journal, true); err != nil {
				return err
			}
		}
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	lock, err := e.hold(ctx, c, t.verb, t.change)
	if err != nil {
		return err
	}
	defer e.release(ctx, lock)
	t.members.Held = lock.Held
	// The time is for the steps: the lock is needed to take them back, too.
	ctx, cancel := within(lock.Context(), t.timeout, t.what)
	defer cancel()
	if err := t.confirm(ctx, c); err != nil {
		return err
	}
	return e.runMembers(ctx, c, t)
}

// leftLimit is how long is looked for a pod without a member, also when the time is over.
const leftLimit = 30 * time.Second

func (e *env) tellLeft(ctx context.Context, m *operate.Members) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftLimit)
	defer cancel()
	if left := m.Left(ctx); left != "" {
		e.warn("%s.", left)
	}
}

func (e *env) runMembers(ctx context.Context, c *cluster, t membersTask) error {
	var err error
	if t.fresh {
		t.journal.Reason = t.reason
		err = t.members.Begin(ctx, t.journal, false)
	}
	undo := t.undo || t.journal.Undo
	switch {
	case err != nil:
	case undo:
		err = t.members.Undo(ctx, t.journal)
	default:
		err = t.members.Run(ctx, t.journal)
	}
	var undone *operate.UndoneError
	var stopped *operate.HaltedError
	again := fmt.Sprintf("run the same command again to go on, or with --abort to undo it (journal: ConfigMap %s)", operate.JournalName(c.Owner))
	switch {
	case errors.As(err, &undone):
		e.announce(ctx, c, t.undone, t.verb+" was taken back: "+undone.Awaited, t.change)
		e.tellLeft(ctx, t.members)
		return timedOut("%v", err)
	case errors.As(err, &stopped):
		return refused("stopped: %v; then %s", err, again)
	case err != nil && is[*operate.LostError](err):
		return err
	case err != nil:
		return fmt.Errorf("%w; %s", err, again)
	case undo:
		e.announce(ctx, c, t.undone, t.verb+" was taken back", t.change)
		fmt.Fprintf(e.Out, "%s: taken back\n", c.Target())
		e.tellLeft(ctx, t.members)
		if !t.undo {
			return refused("what was begun before is taken back now, as it was to be: run the same command again to begin anew")
		}
		return nil
	}
	e.announce(ctx, c, t.event, t.what, t.change)
	fmt.Fprintf(e.Out, "%s %s\n", c.Target(), t.what)
	return nil
}
