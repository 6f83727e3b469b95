// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
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
		e.Await(waits)
		return
	}
	e.Step(format, args...)
}

// ReadJournal returns the journal of a cluster, nil for none. A command asks before it checks what manages the members, which may
// be another manager than when a change began. It returns nil if the user may not read it: the permissions are checked later.
func ReadJournal(ctx context.Context, c *app.Cluster) (*journal.Journal, error) {
	kept, err := journal.Read(ctx, c.Kube, c.Owner)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	return kept, err
}

// MembersTask is one run of a change of members. An earlier command may have started the change.
type MembersTask struct {
	Members *membership.Members
	// Read reads the unfinished change. Nil reads it as any change of members does.
	Read func(context.Context) (*membership.Change, error)
	// Plan plans a change from current facts. The Change is nil if there is nothing to do, or only what Finish does.
	Plan func(context.Context) (*membership.Change, operate.Plan, error)
	// Finish carries out a plan without a Change.
	Finish func(context.Context, *Run) error
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
	run     Journaled[*membership.Change]
	// rolledBack is not nil if the change was undone because its time was over.
	rolledBack *membership.UndoneError
}

// Operation returns the task as an operation for Do.
func (t *MembersTask) Operation(a *app.App, c *app.Cluster) Operation {
	t.app, t.cluster = a, c
	t.run = Journaled[*membership.Change]{
		Read: t.read, Plan: t.plan, Resume: t.resume, Create: t.Members.Begin, Abort: "undo the change", Undoing: t.Undo,
	}
	op := t.run.Operation(c, t.Verb, t.Members.Needs(), t.act)
	op.Next = t.next
	return op
}

func (t *MembersTask) read(ctx context.Context) (*membership.Change, error) {
	t.Members.Owner = t.cluster.Owner
	if t.Read != nil {
		return t.Read(ctx)
	}
	return membership.ReadChange(ctx, t.cluster.Kube, t.cluster.Owner)
}

func (t *MembersTask) plan(ctx context.Context) (*membership.Change, operate.Plan, error) {
	if t.Undo {
		return nil, operate.Plan{Already: fmt.Sprintf("No change of the members of %s is unfinished: there is nothing to undo.", t.cluster.Owner)}, nil
	}
	return t.Plan(ctx)
}

func (t *MembersTask) resume(ctx context.Context, found *membership.Change) (operate.Plan, error) {
	if !t.Undo {
		if err := found.Continuable(t.cluster.Owner); err != nil {
			return operate.Plan{}, err
		}
	}
	if err := t.Continues(ctx, found); err != nil {
		return operate.Plan{}, err
	}
	return t.Members.PlanResume(ctx, found, t.Undo)
}

// leftLimit limits the search for what an undo leaves. The search also runs after the command's own
// time limit.
const leftLimit = 30 * time.Second

func (t *MembersTask) warnLeft(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftLimit)
	defer cancel()
	if left := t.Members.Leftover(ctx); left != "" {
		t.app.Warn("%s.", left)
	}
	if held := t.Members.HeldRollout(ctx, t.app.ContextFlags()); held != "" {
		t.app.Warn("%s", held)
	}
}

func (t *MembersTask) act(ctx context.Context, run *Run) error {
	t.Members.StillHeld = run.Held
	if t.run.Current == nil {
		return t.Finish(ctx, run)
	}
	if err := t.run.Begin(ctx, run); err != nil {
		return err
	}
	if t.Undo || t.run.Current.Undo {
		if err := t.Members.Undo(ctx, t.run.Current, t.Undo); err != nil {
			return err
		}
		return t.undone(ctx, run)
	}
	err := t.Members.Run(ctx, t.run.Current)
	if errors.As(err, &t.rolledBack) {
		run.Done(ctx, t.Undone, t.Verb+" was undone: "+t.rolledBack.Awaited, "")
		t.warnLeft(ctx)
		return fmt.Errorf("waited for: %s: %w", t.rolledBack.Awaited, context.Cause(ctx))
	}
	if err != nil {
		return err
	}
	run.Done(ctx, t.Event, t.What, fmt.Sprintf("%s %s", t.cluster.Target(), t.What))
	return nil
}

// next returns how to go on after a run that ended with an error.
func (t *MembersTask) next(err error) string {
	if t.rolledBack != nil {
		has := ""
		if t.rolledBack.Members > 0 { // else they could not be counted
			has = ", and the cluster has " + policy.Count(t.rolledBack.Members, "member")
		}
		return "the change was rolled back" + has + ". Run the same command again to start again"
	}
	return t.run.Next(err)
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
