// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// Stopped is the ID of the step after which no member may run.
const Stopped = "stopped"

// Job executes the steps of a plan, and keeps in the journal how many have been done.
type Job struct {
	Clients step.Clients
	// StillHeld returns an error when this process no longer holds the cluster's lock.
	StillHeld func() error
	// Logf logs each step that was done, and with "… " the one that is being done.
	Logf func(format string, args ...any)
	// RemoveLocal removes the files on this machine that only the steps needed. It is called while there is a journal,
	// so that a command that was killed removes them when it runs again. Nil removes nothing.
	RemoveLocal func()
	// BeforeStop is called directly before the first step that stops members. It returns an error if the members must not
	// be stopped now. The record is written after it. Nil allows it.
	BeforeStop func(context.Context) error

	owner owner.Owner
}

// Create writes the journal before the first step. It first lets the API server try the helper pods of the steps,
// which admission may refuse, while all members still run. With dry nothing is written.
func (j *Job) Create(ctx context.Context, o owner.Owner, rec *Record, helpers []step.CreatePod, dry bool) error {
	sts, err := operate.ReadStatefulSet(ctx, j.Clients.Kube, o)
	if err != nil {
		return err
	}
	for _, pod := range helpers {
		if err := pod.Try(ctx, j.Clients); err != nil {
			return err
		}
	}
	return rec.create(ctx, j.Clients.Kube, sts, dry)
}

// Run executes the steps of a plan from the first that has not been done. It repeats earlier ones whose
// result may be gone.
func (j *Job) Run(ctx context.Context, o owner.Owner, rec *Record, steps []step.Step) error {
	if err := j.owns(ctx, o, rec); err != nil {
		return err
	}
	if rec.rewound {
		if err := rec.update(ctx, j.Clients.Kube); err != nil {
			return err
		}
		rec.rewound = false
	}
	then := scaleAfter(rec, steps)
	steps = Counted(steps)
	if err := j.repeat(ctx, rec.Done, steps); err != nil {
		return err
	}
	for rec.Done < len(steps) {
		if err := j.beforeStop(ctx, rec, steps); err != nil {
			return err
		}
		if err := j.do(ctx, steps[rec.Done]); err != nil {
			return err
		}
		rec.Done++
		rec.Final = rec.Final || rec.Done < len(steps) && steps[rec.Done].Final
		if err := rec.update(ctx, j.Clients.Kube); err != nil {
			return err
		}
	}
	return j.end(ctx, o, rec, then)
}

// scaleAfter returns the number of members to which a scale brings the cluster after the restore, 0 if none follows.
func scaleAfter(rec *Record, steps []step.Step) int {
	if slices.ContainsFunc(steps, func(s step.Step) bool { return s.After && len(s.Acts) > 0 }) {
		return int(rec.Size)
	}
	return 0
}

// Counted returns the steps that a record counts: all but those that are changes of their own.
func Counted(steps []step.Step) []step.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s step.Step) bool { return s.After })
}

// beforeStop calls BeforeStop if the next step is the first that stops members.
func (j *Job) beforeStop(ctx context.Context, rec *Record, steps []step.Step) error {
	first := slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == Stopped })
	if j.BeforeStop == nil || rec.Done != first {
		return nil
	}
	if err := j.BeforeStop(ctx); err != nil {
		return err
	}
	return rec.update(ctx, j.Clients.Kube)
}

// Undo executes the steps that start the members on their old data again.
func (j *Job) Undo(ctx context.Context, o owner.Owner, rec *Record, steps []step.Step) error {
	if err := j.owns(ctx, o, rec); err != nil {
		return err
	}
	if !rec.Undo {
		rec.Undo = true
		if err := rec.update(ctx, j.Clients.Kube); err != nil {
			return err
		}
	}
	for _, s := range steps {
		if err := j.do(ctx, s); err != nil {
			return err
		}
	}
	rec.Undone = true // before the mark is removed, without which an undoing is refused
	if err := rec.update(ctx, j.Clients.Kube); err != nil {
		return err
	}
	return j.end(ctx, o, rec, 0)
}

func (j *Job) owns(ctx context.Context, o owner.Owner, rec *Record) error {
	j.owner = o
	sts, err := operate.ReadStatefulSet(ctx, j.Clients.Kube, o)
	if err != nil {
		return err
	}
	return rec.owns(sts)
}

// repeat does the steps again that the next one uses, in their order. An interrupted command may have
// begun the next one.
func (j *Job) repeat(ctx context.Context, done int, steps []step.Step) error {
	var used []string
	for _, s := range steps[min(done, len(steps)):] {
		used = append(used, s.Uses...)
	}
	for _, s := range steps[:min(done, len(steps))] {
		if s.ID != "" && slices.Contains(used, s.ID) {
			if err := j.do(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *Job) do(ctx context.Context, s step.Step) error {
	if len(s.Acts) == 0 {
		return nil
	}
	j.Logf("… %s", s.Title)
	for _, a := range s.Acts {
		if err := j.StillHeld(); err != nil {
			return err
		}
		if err := a.Do(ctx, j.Clients); err != nil {
			return fmt.Errorf("%s: %w", s.Title, j.raised(ctx, s, err))
		}
	}
	j.Logf("%s", s.Title)
	return nil
}

// raised returns why a step failed while no member may run: another client started members, and they write their data.
// Otherwise it returns the error as it is.
func (j *Job) raised(ctx context.Context, s step.Step, err error) error {
	if ctx.Err() != nil || !slices.Contains(s.Uses, Stopped) {
		return err
	}
	sts, unread := operate.ReadStatefulSet(ctx, j.Clients.Kube, j.owner)
	if unread != nil || ptr.Deref(sts.Spec.Replicas, 1) == 0 {
		return err
	}
	return fmt.Errorf("another client set the replicas of StatefulSet %s/%s to %d%s, and no member may run during this step: stop that client first (%w)",
		sts.Namespace, sts.Name, ptr.Deref(sts.Spec.Replicas, 1), WriterOfReplicas(sts), err)
}

// WriterOfReplicas returns which client last wrote the replicas, and when, empty if that is not known.
func WriterOfReplicas(sts *appsv1.StatefulSet) string {
	manager, at := operate.LastWriter(sts, "replicas")
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf(" (field manager %s, at %s)", format.PrintableLine(manager), format.Time(at))
}

// end removes the local files, the mark of the restore from the StatefulSet, and then the journal: without a journal, no
// command would remove the others. If a scale follows, the journal stays until that has one: without a journal, nothing
// would show how many members there are to be.
func (j *Job) end(ctx context.Context, o owner.Owner, rec *Record, scaleTo int) error {
	if err := j.StillHeld(); err != nil {
		return err
	}
	if j.RemoveLocal != nil {
		j.RemoveLocal()
	}
	if err := operate.Unmark(ctx, j.Clients.Kube, o, v1alpha1.RestoreAnnotation); err != nil {
		return err
	}
	if scaleTo > 0 {
		rec.journal.ScaleTo = scaleTo
		return rec.update(ctx, j.Clients.Kube)
	}
	return rec.journal.Delete(ctx, j.Clients.Kube)
}
