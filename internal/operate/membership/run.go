// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// pollInterval is the time between two looks while something is awaited. Three looks are what a
// learner needs at least.
const pollInterval = time.Second

// undoTimeout is how long taking back may last after the time was over.
const undoTimeout = 3 * time.Minute

// HaltedError says why an operation can't go on as things are. Its journal stays.
type HaltedError struct {
	Step membership.Step
}

func (e *HaltedError) Error() string { return e.Step.Message }

// UndoneError says that an operation did not end in time and was taken back.
type UndoneError struct {
	// Awaited is what didn't happen, in words.
	Awaited string
	// Members is how many there are now.
	Members int
}

func (e *UndoneError) Error() string {
	return fmt.Sprintf("taken back, since the time was over: %s; the cluster has %s", e.Awaited, members(e.Members))
}

// Run does step after step until nothing is left to do, and removes the journal.
// Before each it looks at the cluster anew. Where the context's deadline passes, a
// scale-out or a replacement is undone, and the error is an *UndoneError.
func (m *Members) Run(ctx context.Context, j *Change) error {
	awaited, err := m.steps(ctx, j)
	late := errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	if err == nil || !late || j.Operation == membership.ScaleIn || j.Undo {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	awaited = cmp.Or(awaited, "the next step was not done yet")
	m.Logf("… the time is over: %s; taking it back", awaited)
	if err := m.Undo(ctx, j); err != nil {
		return fmt.Errorf("take back what didn't end in time (%s): %w", awaited, err)
	}
	return &UndoneError{Awaited: awaited, Members: m.count(ctx)}
}

// Undo takes back what was begun, as far as it has no vote yet.
func (m *Members) Undo(ctx context.Context, j *Change) error {
	if err := m.checkLock(); err != nil {
		return err
	}
	if err := j.undo(ctx, m.Kube); err != nil {
		return err
	}
	_, err := m.steps(ctx, j)
	return err
}

// Leftover says what is to be done after an operation was undone, where a pod has no member:
// empty where all have one, or nobody tells.
func (m *Members) Leftover(ctx context.Context) string {
	s, err := m.observe(ctx, nil, 0)
	if err != nil || len(s.podsWithoutMember()) == 0 {
		return ""
	}
	return s.countMismatch() + ": " + s.removalHint()
}

func (m *Members) count(ctx context.Context) int {
	s, err := m.observe(ctx, nil, 0)
	if err != nil {
		return 0
	}
	return len(s.Members)
}

// steps returns what was awaited last when it fails.
func (m *Members) steps(ctx context.Context, j *Change) (awaited string, err error) {
	for {
		if err := m.checkLock(); err != nil {
			return awaited, err
		}
		step, err := m.step(ctx, j)
		switch {
		case ctx.Err() != nil:
			return awaited, context.Cause(ctx)
		case err != nil && permanent(err):
			return awaited, err
		case apierrors.IsConflict(err):
			// Its controller wrote the object's status meanwhile: look again.
		case err != nil:
			awaited = m.await(awaited, err.Error())
		case step.Act == membership.Done:
			if err := m.recordSize(ctx, j); err != nil {
				return "record the number of voters on the StatefulSet", err
			}
			if err := j.end(ctx, m.Kube); err != nil {
				return "", err
			}
			m.settle(ctx, j)
			return "", nil
		case step.Act == membership.Stop:
			return awaited, &HaltedError{step}
		case step.Act == membership.Wait:
			awaited = m.await(awaited, step.Message)
		default:
			awaited = ""
			continue
		}
		select {
		case <-ctx.Done():
			return awaited, context.Cause(ctx)
		case <-m.Clock.After(pollInterval):
		}
	}
}

// await tells what is awaited, once.
func (m *Members) await(before, now string) string {
	if now != before {
		m.Logf("… %s", now)
	}
	return now
}

// step looks, decides and acts, once.
func (m *Members) step(ctx context.Context, j *Change) (membership.Step, error) {
	s, err := m.observe(ctx, j, 0)
	if err != nil {
		return membership.Step{}, err
	}
	// Undoing writes back no more than what an operation writes.
	if err := s.compare(j); err != nil || s.TemplateEdited && !j.Undo {
		return membership.Step{Act: membership.Stop, Reason: policy.OperationUnderWay,
			Message: "somebody else changed the StatefulSet's template meanwhile: change it back, or undo this with --abort"}, err
	}
	step := membership.Next(s.ClusterState, j.Record)
	if step.Act == membership.Wait {
		step.Message += m.waitReason(s, step)
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
	m.Logf("%s", m.describe(s, step, true))
	return step, nil
}

// waitReason is what a pod that is waited for waits for itself, empty where that isn't known.
func (m *Members) waitReason(s *observation, step membership.Step) string {
	switch step.Reason {
	case policy.CatchingUp:
		return s.notRunningReason(step.Ordinal)
	case membership.PodGoing:
		for _, name := range slices.Sorted(maps.Keys(s.pods)) {
			if why := m.deletionBlockedBy(s.pods[name]); why != "" {
				return ": " + why
			}
		}
	}
	return ""
}

// compare says whether the template is, beside what an operation writes, as it began.
func (s *observation) compare(j *Change) error {
	rest, err := templateDigest(s.template, j.Found.Container)
	s.TemplateEdited = rest != j.Found.TemplateDigest
	return err
}

func (m *Members) checkLock() error {
	if m.StillHeld == nil {
		return nil
	}
	return m.StillHeld()
}

// describe say a step as it is done, or was.
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

// phrase is what a step does, what it did, and to what; pod is its place's.
func phrase(step membership.Step, pod string) (do, did, what string) {
	switch step.Act {
	case membership.SetPartition:
		do, did, what = "hold", "held", fmt.Sprintf("back updates of pods below ordinal %d (partition)", step.Number)
	case membership.SetOnDelete:
		do, did, what = "set", "set", "the update strategy to OnDelete"
	case membership.SetBootstrap:
		do, did, what = "tell", "told", fmt.Sprintf("new pods of %d members of an existing cluster", len(step.Bootstrap.URLs))
	case membership.RestoreTemplate:
		do, did, what = "give", "gave", "the template back what it said"
	case membership.RestoreStrategy:
		do, did, what = "give", "gave", "the update strategy back"
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
