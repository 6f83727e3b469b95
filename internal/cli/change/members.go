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
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Members returns the operations that change the members of a cluster.
func Members(e *app.App, c *app.Cluster) (*membership.Members, error) {
	credentials, err := e.Credentials.Read(e)
	if err != nil {
		return nil, err
	}
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	return &membership.Members{
		Kube: c.Kube, Reader: c.Reader, Owner: c.Owner, Tunnel: tunnel.New(config), Credentials: credentials,
		Clock: e.Clock, Logf: func(format string, args ...any) { PrintStep(e, format, args...) },
	}, nil
}

// PrintStep prints a completed step, or for a text that begins with "… " what is awaited.
func PrintStep(e *app.App, format string, args ...any) {
	if waits, ok := strings.CutPrefix(fmt.Sprintf(format, args...), "… "); ok {
		fmt.Fprintf(e.ErrOut, "%s %s\n", e.Paint(e.ErrOut, ui.Yellow, "…"), waits)
		return
	}
	e.Step(format, args...)
}

// MembersTask is one run of a change of members. An earlier command may have started the change.
type MembersTask struct {
	Members *membership.Members
	// Plan plans a change from current facts. The Change is nil if there is nothing to do.
	Plan func(context.Context) (*membership.Change, operate.Plan, error)
	// Continues returns an error if this command can't continue or undo an unfinished change.
	Continues func(context.Context, *membership.Change) error
	// Undo is true if the user wants to undo an unfinished change.
	Undo bool
	// Verb names the operation in the lock.
	Verb string
	// Event and What are the reason and the text of the Event. Undone is the reason of the
	// Event if the change was undone.
	Event, Undone policy.Reason
	What          string

	cluster *app.Cluster
	app     *app.App
	Journaled
	// planned is the change of the last judgement.
	planned *membership.Change
	// rolledBack is not nil if the change was undone because its time was over.
	rolledBack *membership.UndoneError
}

// Operation returns the task as an operation for Do.
func (t *MembersTask) Operation(a *app.App, c *app.Cluster) Operation {
	t.app, t.cluster = a, c
	return Operation{
		Verb: t.Verb, Needs: t.Members.Needs(), AllowsUnfinished: true,
		Judge: t.judge, DryRun: t.try, Act: t.act, Next: t.next,
	}
}

// judge plans a fresh change, or the rest of an unfinished one. From the second call on it
// returns an error if another client started or ended a change since the first one.
func (t *MembersTask) judge(ctx context.Context) (plan operate.Plan, err error) {
	o := t.cluster.Owner
	t.Members.Owner = o
	now, err := membership.ReadChange(ctx, t.cluster.Kube, o)
	switch {
	case err != nil:
		return plan, err
	case t.Fresh && now != nil:
		return plan, app.Refused("another command started kubectl etcd %s (%s) on %s: see kubectl etcd status %s -n %s", now.Verb(), now.Summary(o), o, o.Target(), o.Namespace)
	case t.planned != nil && !t.Fresh && !t.planned.Same(now):
		return plan, app.Refused("another command ended the unfinished change of %s: see kubectl etcd status %s -n %s", o, o.Target(), o.Namespace)
	case now != nil:
		if err := t.Continues(ctx, now); err != nil {
			return plan, err
		}
		t.planned = now
		return t.Members.PlanResume(ctx, now, t.Undo)
	case t.Undo:
		return operate.Plan{Already: fmt.Sprintf("No change of the members of %s is unfinished: there is nothing to undo.", o)}, nil
	}
	t.Fresh = true
	t.planned, plan, err = t.Plan(ctx)
	return plan, err
}

// try is the dry run: the API server tries the first write of a fresh task.
func (t *MembersTask) try(ctx context.Context) error {
	if !t.Fresh {
		return nil
	}
	return t.Members.Begin(ctx, t.planned, true)
}

// leftLimit limits the search for a pod without a member. The search also runs after the
// command's own time limit.
const leftLimit = 30 * time.Second

func (t *MembersTask) warnLeft(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftLimit)
	defer cancel()
	if left := t.Members.Leftover(ctx); left != "" {
		t.app.Warn("%s.", left)
	}
}

func (t *MembersTask) act(ctx context.Context, run *Run) error {
	t.Members.StillHeld = run.Held
	undo := t.Undo || t.planned.Undo
	err := t.steps(ctx, run, undo)
	var stopped *membership.HaltedError
	switch {
	case errors.As(err, &t.rolledBack):
		run.Done(ctx, t.Undone, t.Verb+" was undone: "+t.rolledBack.Awaited, "")
		t.warnLeft(ctx)
		return fmt.Errorf("waited for: %s: %w", t.rolledBack.Awaited, context.Cause(ctx))
	case errors.As(err, &stopped) && context.Cause(ctx) == nil: // else the end of the time explains it
		return app.Refused("stopped: %v; then %s", err, t.next(err))
	case err != nil:
		return err
	case undo:
		return t.undone(ctx, run)
	}
	run.Done(ctx, t.Event, t.What, fmt.Sprintf("%s %s", t.cluster.Target(), t.What))
	return nil
}

// next returns how to go on after a run that ended with an error.
func (t *MembersTask) next(error) string {
	if t.rolledBack != nil {
		has := ""
		if t.rolledBack.Members > 0 { // else they could not be counted
			has = ", and the cluster has " + policy.Count(t.rolledBack.Members, "member")
		}
		return "the change was rolled back" + has + ". Run the same command again to start again"
	}
	return t.Next(t.cluster, "undo the change")
}

func (t *MembersTask) steps(ctx context.Context, run *Run, undo bool) error {
	begin := func(ctx context.Context) error { return t.Members.Begin(ctx, t.planned, false) }
	if err := t.Begin(ctx, run, &t.planned.Journal, begin); err != nil {
		return err
	}
	if undo {
		return t.Members.Undo(ctx, t.planned)
	}
	return t.Members.Run(ctx, t.planned)
}

// undone reports a change that was undone. It is a refusal where the user wanted the change.
func (t *MembersTask) undone(ctx context.Context, run *Run) error {
	run.Done(ctx, t.Undone, t.Verb+" was undone", fmt.Sprintf("%s: undone", t.cluster.Target()))
	t.warnLeft(ctx)
	if !t.Undo {
		return app.Refused("an earlier command had started to undo its change, and this command completed the undo. Run the same command again to start the change")
	}
	return nil
}
