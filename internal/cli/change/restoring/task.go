// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/podexec"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// task is one run of a restore, which an earlier command may have begun.
type task struct {
	Options

	app      *app.App
	cluster  *app.Cluster
	target   string
	file     *v1alpha1.Snapshot
	recovery Recovery
	// template has the snapshot and the flags, and plan is made of it.
	template, plan restore.Plan
	steps          []step.Step
	job            *progress.Job
	// limit is that of the whole restore, and self the program of this plugin, empty for the one that runs.
	limit app.Limit
	self  string
	run   change.Journaled[*progress.Record]
	// ended means that the restore has ended, and onlyScale that it had before.
	ended, onlyScale bool
	// alarms are those that the check of the cluster has found. Nil means that an earlier command made the check.
	alarms *alarms
}

func newTask(ctx context.Context, a *app.App, file, target string, o Options) (*task, error) {
	t := &task{Options: o, app: a, target: target}
	var content snapshot.File
	var err error
	if !o.Abort {
		if t.file, content, err = backup.Inspect(ctx, file, a.Warn); err != nil {
			return nil, err
		}
	}
	if t.cluster, t.template, err = PlanFor(ctx, a, target); err != nil {
		return nil, err
	}
	t.template.File, t.template.Given, t.template.Snapshot = file, cmp.Or(o.Given, file), content
	t.template.Bump, t.template.Tool, t.template.KeepFor = o.Bump, o.Tool, o.KeepFor
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	// With its warnings, etcd-webhook would advise users to set the replicas again while data is copied.
	quiet, err := a.Quiet()
	if err != nil {
		return nil, err
	}
	t.job = &progress.Job{
		Clients: step.Clients{
			Kube: quiet, Namespace: t.cluster.Namespace, Clock: a.Clock,
			Exec: podexec.Runner{Config: config, Namespace: t.cluster.Namespace, Container: restore.HelperContainer}.Run,
			Run:  t.program, Output: output, Plugin: t.plugin, Etcd: &cluster{task: t}, Warn: a.Warn,
		},
		Logf:        func(format string, args ...any) { change.PrintStep(a, format, args...) },
		RemoveLocal: t.removeLocal,
		BeforeStop:  t.beforeStop,
	}
	return t, ctx.Err()
}

func (t *task) operation() change.Operation {
	t.run = change.Journaled[*progress.Record]{
		Read: func(ctx context.Context) (*progress.Record, error) {
			return progress.Read(ctx, t.cluster.Kube, t.cluster.Owner)
		},
		Plan:   t.propose,
		Resume: t.resume,
		Create: func(ctx context.Context, rec *progress.Record, dry bool) error {
			return t.job.Create(ctx, t.plan.Owner, rec, t.plan.HelperPods(), dry)
		},
		Abort: "start the members on their old data again", Undoing: t.Abort,
	}
	op := t.run.Operation(t.cluster, "snapshot restore", restore.ReadNeeds(t.cluster.Owner), t.act)
	op.After = t.follow
	return op
}

// propose plans a fresh restore.
func (t *task) propose(ctx context.Context) (*progress.Record, operate.Plan, error) {
	if t.Abort {
		return nil, operate.Plan{Already: fmt.Sprintf("No restore into %s is unfinished: there is nothing to undo.", t.cluster.Owner)}, nil
	}
	if err := change.Unfinished(ctx, t.app, t.cluster); err != nil {
		return nil, operate.Plan{}, err
	}
	if t.Resume {
		return nil, operate.Plan{Already: NothingToResume(t.cluster.Owner)}, nil
	}
	if t.recovery.Judge != nil { // since the first judgement, data was saved, and the user may have waited for hours
		if err := t.recovery.Judge(ctx); err != nil {
			return nil, operate.Plan{}, err
		}
	}
	r := t.template
	r.Owner = t.cluster.Owner
	if t.run.Current != nil {
		r.At = t.run.Current.At // so that it is the plan that the user has agreed to
	}
	r.Saved, r.Survivor, r.Read, r.Backup, r.AllowUnsaved = t.recovery.Facts != nil, t.recovery.Survivor, t.recovery.Read, t.recovery.Backup, t.AllowUnsaved
	r.Origin, r.FromOther = OriginOf(t.file), t.FromOther
	r.Newest = t.recovery.Revision // also if the survivor doesn't answer at this moment
	if err := Survey(ctx, t.app, t.cluster, t.target, &r); err != nil {
		return nil, operate.Plan{}, err
	}
	r.Answers, r.Lost = r.Answers && !r.Saved, t.Lost
	if err := r.MayBeLost(); err != nil {
		return nil, operate.Plan{}, err
	}
	if t.recovery.Judge != nil && r.Newest > t.recovery.Revision {
		return nil, operate.Plan{}, survivor.Refuse(r.Owner, "a member is at revision %d, and none was above %d when the data was saved; run the command again", r.Newest, t.recovery.Revision)
	}
	steps, warnings, err := findSteps(ctx, t.cluster, &r, t.PlanOptions)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	t.plan, t.steps = r, steps
	p := r.Propose(steps, warnings)
	p.Facts = append(slices.Clone(t.recovery.Facts), p.Facts...)
	return restore.NewRecord(r), p, nil
}

// findSteps completes a plan that has the answers of the members, and returns its steps. It returns an error if the restore
// would be refused, or this machine lacks a program for it.
func findSteps(ctx context.Context, c *app.Cluster, r *restore.Plan, o PlanOptions) (steps []step.Step, warnings []string, err error) {
	if err := r.Find(ctx, c.Kube, c.Reader, o.Replicas, o.Image); err != nil {
		return nil, nil, err
	}
	if steps, warnings, err = restore.Steps(*r); err != nil {
		return nil, nil, err
	}
	return steps, warnings, r.CheckTools(ctx, steps)
}

// OriginOf returns the cluster that the record of a snapshot names, the zero value without a record.
func OriginOf(s *v1alpha1.Snapshot) restore.Origin {
	if s.Origin == nil {
		return restore.Origin{}
	}
	c := s.Origin.Cluster
	return restore.Origin{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name, UID: c.UID, ClusterID: s.Origin.ClusterID, Taken: s.Origin.TakenAt.Time}
}

// resume plans the rest of an unfinished restore, or its undoing.
func (t *task) resume(ctx context.Context, rec *progress.Record) (plan operate.Plan, err error) {
	if t.onlyScale, err = t.awaitsScale(ctx, rec); err != nil {
		return plan, err
	}
	if t.onlyScale {
		return t.resumeScale(rec)
	}
	if rec.Undo && !t.Abort {
		_, abort := progress.Commands(t.cluster.Owner, rec.Journal())
		return operate.Plan{}, app.Refused("a restore into %s is being undone: end that with %s -n %s", t.cluster.Owner, abort, t.cluster.Namespace)
	}
	r := t.template
	r.Owner = t.cluster.Owner
	other, err := t.goOn(&r, rec)
	if err != nil {
		return operate.Plan{}, err
	}
	if err := r.Continue(ctx, rec, t.cluster.Kube, t.cluster.Reader, t.Image); err != nil {
		return operate.Plan{}, err
	}
	t.plan = r
	if t.Abort {
		return t.undo(ctx, r, rec)
	}
	if err := sameOrReplaced(&r, rec, other); err != nil {
		return operate.Plan{}, err
	}
	r.Origin, r.FromOther, r.AllowUnsaved = OriginOf(t.file), t.FromOther, t.AllowUnsaved
	if err := r.FollowReplicas(ctx, rec, t.cluster.Kube); err != nil {
		return operate.Plan{}, err
	}
	if err := t.judgeUnstopped(ctx, rec, &r); err != nil {
		return operate.Plan{}, err
	}
	t.plan = r
	steps, _, err := restore.Steps(r)
	if err == nil {
		err = r.MayContinue(rec)
	}
	if err != nil {
		return operate.Plan{}, err
	}
	t.steps = steps
	return r.ProposeRest(rec, steps[min(rec.Done, len(steps)):], false), r.CheckTools(ctx, steps)
}

// goOn checks whether an unfinished restore may go on, and reports whether it does so with another snapshot.
func (t *task) goOn(r *restore.Plan, rec *progress.Record) (other bool, err error) {
	if t.Abort {
		return false, nil
	}
	other = r.ReplaceSource(rec)
	if other && t.given != nil && t.given("bump-revision") {
		rec.Bump = t.Bump
	}
	return other, t.continues(rec)
}

// sameOrReplaced checks that a restore goes on with the snapshot and in the order that it began with. With another snapshot,
// it goes back to the step that copies it.
func sameOrReplaced(r *restore.Plan, rec *progress.Record, other bool) error {
	if err := rec.Same(r.File, r.Snapshot); err != nil {
		return r.OtherFile(rec, err)
	}
	if other {
		if err := r.Rewind(rec); err != nil {
			return err
		}
	}
	return r.SameOrder(rec)
}

// undo plans the undoing of an unfinished restore.
func (t *task) undo(ctx context.Context, r restore.Plan, rec *progress.Record) (operate.Plan, error) {
	steps, err := r.Undo(rec)
	if err == nil {
		err = r.CheckTools(ctx, steps)
	}
	t.steps, rec.Starter = steps, r.Starter // an undoing that is interrupted and repeated finds nothing of it
	return r.ProposeRest(rec, steps, true), err
}

func (t *task) act(ctx context.Context, run *change.Run) error {
	t.job.StillHeld = run.Held
	t.job.Clients.Etcd = &cluster{task: t, run: run}
	if err := t.run.Begin(ctx, run); err != nil {
		return err
	}
	if t.onlyScale {
		t.ended = true
		return nil
	}
	rec, what := t.run.Current, fmt.Sprintf("snapshot of revision %d restored, with %d members", t.plan.Snapshot.Revision, len(t.plan.Members))
	if t.Abort {
		if err := t.job.Undo(ctx, t.plan.Owner, rec, t.steps); err != nil {
			return err
		}
		run.Done(ctx, reasons.RestoreUndone, "restore of a snapshot undone", fmt.Sprintf("%s: %s", t.cluster.Target(), t.plan.Undone(rec)))
		return nil
	}
	err := t.job.Run(ctx, t.plan.Owner, rec, t.steps)
	if rec.Final {
		t.run.Abort = ""
	}
	if err != nil {
		return err
	}
	t.ended = true
	run.Done(ctx, reasons.Restored, what, fmt.Sprintf("%s: %s; %s", t.cluster.Target(), what, t.plan.Ended()))
	return t.inForce(ctx, run)
}

// removeLocal removes copies of what is in the volumes or the store by now, or not needed any more.
func (t *task) removeLocal() {
	for _, name := range t.plan.Local() {
		if err := os.RemoveAll(name); err != nil {
			t.app.Warn("%v.", err)
		}
	}
}
