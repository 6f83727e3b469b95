// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Members changes who the Members of a cluster are, as far as nobody else does.
func Members(e *app.App, c *app.Cluster) (*operate.Members, error) {
	credentials, err := e.Credentials.Read(e)
	if err != nil {
		return nil, err
	}
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	return &operate.Members{
		Kube: c.Kube, Reader: c.Reader, Owner: c.Owner, Tunnel: etcd.NewTunnel(config), Credentials: credentials,
		Clock: e.Clock, Say: func(format string, args ...any) { SayStep(e, format, args...) },
	}, nil
}

// SayStep tells a step that was done, or, beginning with …, what is awaited.
func SayStep(e *app.App, format string, args ...any) {
	if waits, ok := strings.CutPrefix(fmt.Sprintf(format, args...), "… "); ok {
		fmt.Fprintf(e.ErrOut, "%s %s\n", e.Paint(e.ErrOut, ui.Yellow, "…"), waits)
		return
	}
	e.Step(format, args...)
}

// MembersTask is one run of an operation that may have been begun before.
type MembersTask struct {
	Flags

	Members *operate.Members
	Journal *operate.Journal
	Plan    operate.Plan
	// Fresh says that nothing was written yet.
	Fresh, Undo bool
	// Verb is What the lock is for; Event and What are the Event's reason and
	// words, Undone its reason where it was taken back.
	Verb, Event, Undone, What string
	// Again makes a fresh task's plan once more.
	Again func(context.Context) (*operate.Journal, operate.Plan, error)
}

// confirm looks once more, under the lock, whether what was planned may still be
// done: somebody else may have ended or begun something while the user read.
func (t *MembersTask) confirm(ctx context.Context, c *app.Cluster) error {
	now, err := operate.ReadJournal(ctx, c.Kube, c.Owner)
	switch {
	case err != nil:
		return err
	case t.Fresh && now != nil:
		return app.Refused("kubectl etcd %s (%s) was begun on %s meanwhile: see kubectl etcd status %s -n %s", now.Verb(), now.Words(c.Owner), c.Owner, c.Target(), c.Namespace)
	case t.Fresh:
		return t.replan(ctx, c)
	case !t.Journal.Same(now):
		return app.Refused("what was under way on %s has ended meanwhile: see kubectl etcd status %s -n %s", c.Owner, c.Target(), c.Namespace)
	}
	t.Journal = now
	return nil
}

func (t *MembersTask) replan(ctx context.Context, c *app.Cluster) error {
	journal, _, err := t.Again(ctx)
	if err != nil {
		return err
	}
	if journal == nil || journal.Replicas != t.Journal.Replicas || journal.Operation != t.Journal.Operation {
		return ChangedMeanwhile(c)
	}
	t.Journal = journal
	return nil
}

// ChangeMembers asks, takes the lock, and does what the task says.
func ChangeMembers(ctx context.Context, e *app.App, c *app.Cluster, t MembersTask) error {
	if !t.Wait {
		return app.Refused("the steps are done by this command, so it can't leave before they are: leave --wait=false away")
	}
	if t.DryRun != DryRunClient {
		if err := Require(ctx, e, c, t.Members.MembersNeeds(t.Journal)); err != nil {
			return err
		}
	}
	yes, err := Propose(ctx, e, c, t.Plan, t.Flags)
	if err != nil || !yes {
		return err
	}
	if t.DryRun == DryRunServer {
		if t.Fresh {
			if err := t.Members.Begin(ctx, t.Journal, true); err != nil {
				return err
			}
		}
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	lock, err := Hold(ctx, e, c, t.Verb, t.Flags)
	if err != nil {
		return err
	}
	defer Release(ctx, e, lock)
	t.Members.Held = lock.Held
	// The time is for the steps: the lock is needed to take them back, too.
	ctx, cancel := app.Within(lock.Context(), t.Timeout, t.What)
	defer cancel()
	if err := t.confirm(ctx, c); err != nil {
		return err
	}
	return runMembers(ctx, e, c, t)
}

// leftLimit is how long is looked for a pod without a member, also when the time is over.
const leftLimit = 30 * time.Second

func tellLeft(ctx context.Context, e *app.App, m *operate.Members) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftLimit)
	defer cancel()
	if left := m.Left(ctx); left != "" {
		e.Warn("%s.", left)
	}
}

func runMembers(ctx context.Context, e *app.App, c *app.Cluster, t MembersTask) error {
	var err error
	if t.Fresh {
		t.Journal.Reason = t.Reason
		err = t.Members.Begin(ctx, t.Journal, false)
	}
	undo := t.Undo || t.Journal.Undo
	switch {
	case err != nil:
	case undo:
		err = t.Members.Undo(ctx, t.Journal)
	default:
		err = t.Members.Run(ctx, t.Journal)
	}
	var undone *operate.UndoneError
	var stopped *operate.HaltedError
	again := fmt.Sprintf("run the same command again to go on, or with --abort to undo it (journal: ConfigMap %s)", operate.JournalName(c.Owner))
	switch {
	case errors.As(err, &undone):
		Announce(ctx, e, c, t.Undone, t.Verb+" was taken back: "+undone.Awaited, t.Flags)
		tellLeft(ctx, e, t.Members)
		return app.TimedOut("%v", err)
	case errors.As(err, &stopped):
		return app.Refused("stopped: %v; then %s", err, again)
	case err != nil && app.Is[*operate.LostError](err):
		return err
	case err != nil:
		return fmt.Errorf("%w; %s", err, again)
	case undo:
		Announce(ctx, e, c, t.Undone, t.Verb+" was taken back", t.Flags)
		fmt.Fprintf(e.Out, "%s: taken back\n", c.Target())
		tellLeft(ctx, e, t.Members)
		if !t.Undo {
			return app.Refused("what was begun before is taken back now, as it was to be: run the same command again to begin anew")
		}
		return nil
	}
	Announce(ctx, e, c, t.Event, t.What, t.Flags)
	fmt.Fprintf(e.Out, "%s %s\n", c.Target(), t.What)
	return nil
}
