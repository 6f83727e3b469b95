// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// record is an operation in its journal. The zero record is none.
type record interface {
	comparable
	Journal() *journal.Journal
}

// Journaled is one run of an operation that has a journal, so that a later command can continue or
// undo it.
type Journaled[R record] struct {
	// Read reads the unfinished operation.
	Read func(context.Context) (R, error)
	// Plan plans a fresh operation. It returns no record if there is nothing to do.
	Plan func(context.Context) (R, operate.Plan, error)
	// Resume plans the rest of an unfinished operation. It returns an error if this command can't
	// continue or undo it.
	Resume func(context.Context, R) (operate.Plan, error)
	// Create writes the journal of a fresh operation. With dry the API server only tries it.
	Create func(ctx context.Context, r R, dry bool) error
	// Abort is what --abort does: "undo the change". It is empty if that is not possible any more.
	Abort string
	// Undoing is true if this command has --abort.
	Undoing bool
	// Current is the operation of the last judgement.
	Current R

	cluster *app.Cluster
	// fresh is true if this command plans the operation, and false if the journal held it before.
	fresh bool
	// begun is true if this command has written the journal.
	begun bool
}

// Operation returns the run as an operation for Do. act begins with Begin.
func (j *Journaled[R]) Operation(c *app.Cluster, verb string, needs []operate.Need, act func(context.Context, *Run) error) Operation {
	j.cluster = c
	return Operation{
		Verb: verb, Needs: needs, AllowsUnfinished: true, Judge: j.judge, DryRun: j.try, Act: act, Next: j.Next,
	}
}

// judge plans a fresh operation, or the rest of an unfinished one. From the second call on it
// returns an error if another client started or ended one since the first call.
func (j *Journaled[R]) judge(ctx context.Context) (plan operate.Plan, err error) {
	var none R
	now, err := j.Read(ctx)
	switch {
	case err != nil:
		return plan, err
	case j.fresh && now != none:
		return plan, j.changed("started", now)
	case !j.fresh && j.Current != none && (now == none || !now.Journal().Same(j.Current.Journal())):
		return plan, j.changed("ended", j.Current)
	case now != none:
		j.Current = now
		plan, err = j.Resume(ctx, now)
		plan.Continues = true
		return plan, err
	}
	j.fresh = true
	j.Current, plan, err = j.Plan(ctx)
	return plan, err
}

// Continues reports whether an earlier command began the operation.
func (j *Journaled[R]) Continues() bool { return !j.fresh }

// changed returns the error for an operation that another command started or ended.
func (j *Journaled[R]) changed(did string, r R) error {
	o := j.cluster.Owner
	return app.Refused("another command %s kubectl etcd %s on %s: see kubectl etcd status %s -n %s", did, r.Journal().Kind, o, o.Target(), o.Namespace)
}

// try does the dry run: the API server tries the first writes of a fresh operation.
func (j *Journaled[R]) try(ctx context.Context) error {
	var none R
	if !j.fresh || j.Current == none {
		return nil
	}
	return j.Create(ctx, j.Current, true)
}

// Begin writes the journal of a fresh operation, with the user and the reason.
func (j *Journaled[R]) Begin(ctx context.Context, run *Run) error {
	if !j.fresh {
		return nil
	}
	entry := j.Current.Journal()
	entry.By, entry.Reason = app.Identity(run.app.User), run.flags.Reason
	err := j.Create(ctx, j.Current, false)
	j.begun = err == nil
	return err
}

// Next returns how to continue after a run that ended early. It returns nothing if the journal, if
// there is one, is of another command.
func (j *Journaled[R]) Next(err error) string {
	if j.fresh && !j.begun {
		return ""
	}
	then := ""
	if app.Is[*operate.HaltedError](err) {
		then = "then "
	}
	or := ", or add --abort to " + j.Abort
	if j.Undoing || j.Abort == "" {
		or = ""
	}
	return fmt.Sprintf("%srun the same command again to continue%s (journal: ConfigMap %s)", then, or, journal.Name(j.cluster.Owner))
}
