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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Members changes who the Members of a cluster are, as far as nobody else does.
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
		Clock: e.Clock, Logf: func(format string, args ...any) { SayStep(e, format, args...) },
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

// MembersTask is one run of a change of members, which may have been begun before.
type MembersTask struct {
	Members *membership.Members
	// Planned and Plan are those that the user is asked about.
	Planned *membership.Change
	Plan    operate.Plan
	// Fresh is true where nothing was written yet; Undo asks to undo what was begun.
	Fresh, Undo bool
	// Verb names the operation in the lock.
	Verb string
	// Event and What are the reason and the text of the Event; Undone is its reason where
	// the change was undone.
	Event, Undone policy.Reason
	What          string
	// Again makes the plan of a fresh task once more.
	Again func(context.Context) (*membership.Change, operate.Plan, error)

	cluster *app.Cluster
	app     *app.App
	judged  bool
}

// Operation returns the task as an operation for Do.
func (t *MembersTask) Operation(a *app.App, c *app.Cluster) Operation {
	t.app, t.cluster = a, c
	return Operation{
		Verb: t.Verb, Needs: t.Members.Needs(t.Planned), AllowsUnfinished: true,
		Judge: t.judge, DryRun: t.try, Act: t.act,
	}
}

// judge returns the plan that the task was made with, and from the second time on whether
// it still holds: another client may have begun or ended a change meanwhile.
func (t *MembersTask) judge(ctx context.Context) (operate.Plan, error) {
	if !t.judged {
		t.judged = true
		return t.Plan, nil
	}
	now, err := membership.ReadChange(ctx, t.cluster.Kube, t.cluster.Owner)
	o := t.cluster.Owner
	switch {
	case err != nil:
		return t.Plan, err
	case t.Fresh && now != nil:
		return t.Plan, app.Refused("kubectl etcd %s (%s) was begun on %s meanwhile: see kubectl etcd status %s -n %s", now.Verb(), now.Summary(o), o, o.Target(), o.Namespace)
	case t.Fresh:
		return t.replan(ctx)
	case !t.Planned.Same(now):
		return t.Plan, app.Refused("what was under way on %s has ended meanwhile: see kubectl etcd status %s -n %s", o, o.Target(), o.Namespace)
	}
	t.Planned = now
	return t.Plan, nil
}

func (t *MembersTask) replan(ctx context.Context) (operate.Plan, error) {
	planned, plan, err := t.Again(ctx)
	if err != nil || planned == nil {
		return operate.Plan{}, err
	}
	if planned.Replicas != t.Planned.Replicas || planned.Operation != t.Planned.Operation {
		return operate.Plan{}, nil
	}
	t.Planned = planned
	return plan, nil
}

// try is the dry run: of a fresh task the API server tries the first write.
func (t *MembersTask) try(ctx context.Context) error {
	if !t.Fresh {
		return nil
	}
	return t.Members.Begin(ctx, t.Planned, true)
}

// leftLimit bounds the search for a pod without a member, also when the time is over.
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
	undo := t.Undo || t.Planned.Undo
	err := t.steps(ctx, run, undo)
	again := fmt.Sprintf("run the same command again to go on, or with --abort to undo it (journal: ConfigMap %s)", journal.Name(t.cluster.Owner))
	var undone *membership.UndoneError
	var stopped *membership.HaltedError
	switch {
	case errors.As(err, &undone):
		run.Done(ctx, t.Undone, t.Verb+" was taken back: "+undone.Awaited, "")
		t.warnLeft(ctx)
		return app.TimedOut("%v", err)
	case errors.As(err, &stopped):
		return app.Refused("stopped: %v; then %s", err, again)
	case err != nil && app.Is[*lock.LostError](err):
		return err
	case err != nil:
		return fmt.Errorf("%w; %s", err, again)
	case undo:
		return t.undone(ctx, run)
	}
	run.Done(ctx, t.Event, t.What, fmt.Sprintf("%s %s", t.cluster.Target(), t.What))
	return nil
}

func (t *MembersTask) steps(ctx context.Context, run *Run, undo bool) error {
	if t.Fresh {
		t.Planned.Journal.By, t.Planned.Journal.Reason = app.Identity(run.app.User), run.flags.Reason
		if err := t.Members.Begin(ctx, t.Planned, false); err != nil {
			return err
		}
	}
	if undo {
		return t.Members.Undo(ctx, t.Planned)
	}
	return t.Members.Run(ctx, t.Planned)
}

// undone reports a change that was undone. It is a refusal where the user wanted the change.
func (t *MembersTask) undone(ctx context.Context, run *Run) error {
	run.Done(ctx, t.Undone, t.Verb+" was taken back", fmt.Sprintf("%s: taken back", t.cluster.Target()))
	t.warnLeft(ctx)
	if !t.Undo {
		return app.Refused("what was begun before is taken back now, as it was to be: run the same command again to begin anew")
	}
	return nil
}
