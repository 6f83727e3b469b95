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
	// Planned is the change, and Plan describes it to the user.
	Planned *membership.Change
	Plan    operate.Plan
	// Fresh is true if the change is not in the journal yet. Undo is true if the user wants to
	// undo it.
	Fresh, Undo bool
	// Verb names the operation in the lock.
	Verb string
	// Event and What are the reason and the text of the Event. Undone is the reason of the
	// Event if the change was undone.
	Event, Undone policy.Reason
	What          string
	// Replan returns a new plan of a fresh task, from current facts.
	Replan func(context.Context) (*membership.Change, operate.Plan, error)

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

// judge returns the plan of the task. From the second call on it returns an error if another
// client started or ended a change since the first one.
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
		return t.Plan, app.Refused("another command started kubectl etcd %s (%s) on %s: see kubectl etcd status %s -n %s", now.Verb(), now.Summary(o), o, o.Target(), o.Namespace)
	case t.Fresh:
		return t.replan(ctx)
	case !t.Planned.Same(now):
		return t.Plan, app.Refused("another command ended the unfinished change of %s: see kubectl etcd status %s -n %s", o, o.Target(), o.Namespace)
	}
	t.Planned = now
	return t.Plan, nil
}

func (t *MembersTask) replan(ctx context.Context) (operate.Plan, error) {
	planned, plan, err := t.Replan(ctx)
	if err != nil || planned == nil {
		return operate.Plan{}, err
	}
	if planned.Replicas != t.Planned.Replicas || planned.Operation != t.Planned.Operation {
		return operate.Plan{}, nil
	}
	t.Planned = planned
	return plan, nil
}

// try is the dry run: the API server tries the first write of a fresh task.
func (t *MembersTask) try(ctx context.Context) error {
	if !t.Fresh {
		return nil
	}
	return t.Members.Begin(ctx, t.Planned, true)
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
	undo := t.Undo || t.Planned.Undo
	err := t.steps(ctx, run, undo)
	advice := fmt.Sprintf("run the same command again to continue, or add --abort to undo the change (journal: ConfigMap %s)", journal.Name(t.cluster.Owner))
	var undone *membership.UndoneError
	var stopped *membership.HaltedError
	switch {
	case errors.As(err, &undone):
		run.Done(ctx, t.Undone, t.Verb+" was undone: "+undone.Awaited, "")
		t.warnLeft(ctx)
		return app.TimedOut("%v", err)
	case errors.As(err, &stopped):
		return app.Refused("stopped: %v; then %s", err, advice)
	case err != nil && app.Is[*lock.LostError](err):
		return err
	case err != nil:
		return fmt.Errorf("%w; %s", err, advice)
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
	run.Done(ctx, t.Undone, t.Verb+" was undone", fmt.Sprintf("%s: undone", t.cluster.Target()))
	t.warnLeft(ctx)
	if !t.Undo {
		return app.Refused("an earlier command had started to undo its change, and this command completed the undo. Run the same command again to start the change")
	}
	return nil
}
