// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// pollInterval is the time between two observations while something is awaited. A learner needs at
// least three.
const pollInterval = time.Second

// undoTimeout is how long undoing may last after the deadline.
const undoTimeout = 3 * time.Minute

// UndoneError is returned for an operation that did not end in time and was undone.
type UndoneError struct {
	// Awaited is what didn't happen, as text.
	Awaited string
	// Members is how many there are now.
	Members int
}

func (e *UndoneError) Error() string {
	return fmt.Sprintf("the change was rolled back (waited for: %s); the cluster has %s", e.Awaited, policy.Count(e.Members, "member"))
}

// Run does step after step until nothing is left to do, and removes the journal. It observes the
// cluster before each step. After the context's deadline it undoes a scale-out or a replacement, and
// the error is an *UndoneError.
func (m *Members) Run(ctx context.Context, j *Change) error {
	var w operate.Waiter
	err := m.steps(ctx, j, &w)
	late := errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	if err != nil && ctx.Err() != nil {
		err = w.Ended(ctx)
	}
	if err == nil || !late || j.Operation == membership.ScaleIn || j.Undo {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	awaited := cmp.Or(w.Awaited(), "the next step was not done yet")
	m.Logf("… timed out waiting for: %s; rolling back", awaited)
	if err := m.Undo(ctx, j, false); err != nil {
		return fmt.Errorf("roll back after a timeout (waited for: %s): %w", awaited, err)
	}
	return &UndoneError{Awaited: awaited, Members: m.count(ctx)}
}

// Undo undoes an operation. Members that vote by now stay. A scale that has followed a restore is still to be done after
// that, unless the user has given it up.
func (m *Members) Undo(ctx context.Context, j *Change, givenUp bool) error {
	j.givenUp = givenUp
	if err := m.checkLock(); err != nil {
		return err
	}
	if err := j.undo(ctx, m.Kube); err != nil {
		return err
	}
	return m.steps(ctx, j, &operate.Waiter{})
}

func (m *Members) count(ctx context.Context) int {
	s, err := m.observe(ctx, nil, 0)
	if err != nil {
		return 0
	}
	return len(s.Members)
}

// steps does step after step until nothing is left to do. w has what was awaited last. A step that was done before and is
// due again, because another client undoes it or admission drops it, is followed by a pause.
func (m *Members) steps(ctx context.Context, j *Change, w *operate.Waiter) error {
	var done []membership.Step
	for {
		if err := m.checkLock(); err != nil {
			return err
		}
		step, err := m.step(ctx, j)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && permanent(err):
			return err
		case apierrors.IsConflict(err):
			// Its controller wrote the object's status meanwhile. The next step reads it again.
		case err != nil:
			w.Await(m.Logf, "%s", err)
		case step.Act == membership.Done:
			return m.finish(ctx, j, w)
		case step.Act == membership.Stop:
			return operate.Halt("%s", step.Message)
		case step.Act == membership.Wait:
			w.Await(m.Logf, "%s", step.Message)
		case slices.ContainsFunc(done, func(d membership.Step) bool { return reflect.DeepEqual(d, step) }):
			w.Await(m.Logf, "a step was due again: %s", step.Message)
		default:
			m.Logf("%s", step.Message)
			w.Reset()
			done = append(done, step)
			continue
		}
		if w.Pause(ctx, m.Clock, pollInterval) != nil {
			return context.Cause(ctx)
		}
	}
}

// finish records that nothing is left to do, removes the mark of the StatefulSet, and waits until the next operation can begin.
func (m *Members) finish(ctx context.Context, j *Change, w *operate.Waiter) error {
	if err := m.recordSize(ctx, j); err != nil {
		w.Await(func(string, ...any) {}, "record the number of voters on the StatefulSet")
		return err
	}
	w.Reset()
	if err := operate.Unmark(ctx, m.Kube, m.Owner, v1alpha1.MemberChangeAnnotation); err != nil {
		return err
	}
	if err := j.end(ctx, m.Kube); err != nil {
		return err
	}
	m.settle(ctx, j)
	return nil
}

// step observes, decides and acts, once. The message of a step that was done is what was done.
func (m *Members) step(ctx context.Context, j *Change) (membership.Step, error) {
	s, err := m.observe(ctx, j, 0)
	if err != nil {
		return membership.Step{}, err
	}
	// Undoing writes back no more than what an operation writes.
	if err := s.compare(); err != nil || s.TemplateEdited && !j.Undo {
		return membership.Step{Act: membership.Stop, Reason: policy.OperationUnderWay,
			Message: "another client has changed the StatefulSet's template: restore it, or undo this operation with --abort"}, err
	}
	step := membership.Next(s.ClusterState, s.recordOf(j))
	if step.Act == membership.Wait {
		step.Message += m.waitReason(ctx, s, step)
		if step.Reason == policy.CatchingUp {
			m.wakeLearner(ctx, s)
		}
	}
	if step.Act == membership.Done || step.Act == membership.Stop || step.Act == membership.Wait {
		return step, nil
	}
	if err := m.checkLock(); err != nil {
		return step, err
	}
	if err := m.act(ctx, s, j, step); err != nil {
		return step, fmt.Errorf("%s: %w", m.describe(s, step, false), err)
	}
	step.Message = m.describe(s, step, true)
	return step, nil
}

// waitReason returns why the awaited pod isn't ready, empty for unknown.
func (m *Members) waitReason(ctx context.Context, s *observation, step membership.Step) string {
	switch step.Reason {
	case policy.CatchingUp:
		return s.notRunningReason(step.Ordinal)
	case membership.PodGoing:
		for _, name := range slices.Sorted(maps.Keys(s.pods)) {
			if why := podstate.DeletionStuck(s.pods[name], m.Reader.NodeLost(ctx, s.pods[name]), m.Clock.Now()); why != "" {
				return ": " + why
			}
		}
	}
	return ""
}

// compare sets TemplateEdited: whether the template has changed apart from what the operation writes.
func (s *observation) compare() error {
	rest, err := templateDigest(s.template, s.before.Container)
	s.TemplateEdited = rest != s.before.TemplateDigest
	return err
}

func (m *Members) checkLock() error {
	if m.StillHeld == nil {
		return nil
	}
	return m.StillHeld()
}

// describe returns a step as text, in the imperative or in the past tense.
func (m *Members) describe(s *observation, step membership.Step, done bool) string {
	pod := ""
	if step.Ordinal < len(s.Ordinals) {
		pod = s.Ordinals[step.Ordinal].Pod
	}
	do, did, what := phrase(step, pod)
	if done {
		return did + " " + what
	}
	return do + " " + what
}

// phrase returns the verb of a step, its past tense, and its object. pod is the pod of its ordinal.
func phrase(step membership.Step, pod string) (do, did, what string) {
	switch step.Act {
	case membership.SetPartition:
		do, did, what = "hold", "held", fmt.Sprintf("back updates of pods below ordinal %d (partition)", step.Number)
	case membership.SetOnDelete:
		do, did, what = "set", "set", "the update strategy to OnDelete"
	case membership.SetBootstrap:
		do, did, what = "write", "wrote", fmt.Sprintf("initial-cluster with %d members and state existing for new pods", len(step.Bootstrap.URLs))
	case membership.RestoreTemplate:
		do, did, what = "restore", "restored", "the pod template"
	case membership.RestoreStrategy:
		do, did, what = "restore", "restored", "the update strategy"
	case membership.AdoptPod:
		do, did, what = "mark", "marked", pod+" as up to date"
	case membership.AddLearner:
		do, did, what = "add", "added", pod+" to etcd as a learner"
	case membership.Promote:
		do, did, what = "promote", "promoted", fmt.Sprintf("%s (member %016x)", pod, step.Member)
	case membership.MoveLeader:
		do, did, what = "move", "moved", fmt.Sprintf("leadership from %s to member %016x", pod, step.TransferTo)
	case membership.RemoveMember:
		do, did, what = "remove", "removed", fmt.Sprintf("%s (member %016x) from etcd", pod, step.Member)
	case membership.SetReplicas:
		do, did, what = "set", "set", fmt.Sprintf("the replicas to %d", step.Number)
	case membership.DeleteClaims:
		do, did, what = "delete", "deleted", "the volume claims of "+pod
	case membership.DeletePod:
		do, did, what = "delete", "deleted", "pod "+pod
	case membership.Done, membership.Stop, membership.Wait:
	}
	return do, did, what
}
