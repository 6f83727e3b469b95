// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	databases "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// Begin writes the journal. With dry it is a dry run at the API server, and so is the first
// eviction.
func (j *Job) Begin(ctx context.Context, r *Record, dry bool) error {
	s, err := j.observe(ctx, r)
	if err != nil {
		return err
	}
	if !dry {
		if err := j.StillHeld(); err != nil {
			return err
		}
		return r.create(ctx, j.Kube, s.sets[0], false)
	}
	if err := r.create(ctx, j.Kube, s.sets[0], true); err != nil {
		return err
	}
	first := rules.Order(s.Facts)[0]
	return j.evict(ctx, first, s.uid(first), true)
}

// Abort records that no further member is to be restarted.
func (j *Job) Abort(ctx context.Context, r *Record) error {
	if r.Abort {
		return nil
	}
	if err := j.StillHeld(); err != nil {
		return err
	}
	r.Abort = true
	err := r.update(ctx, j.Kube)
	r.Abort = err == nil // so that a retry writes again
	return err
}

// Run restarts member after member until none is left, and removes the journal. It observes the
// cluster before each step. It returns what users should know about the result.
func (j *Job) Run(ctx context.Context, r *Record) ([]policy.Note, error) {
	for {
		s, err := j.observe(ctx, r)
		if err == nil {
			var done bool
			if done, err = j.step(ctx, s, r); done {
				return j.finish(ctx, s, r)
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, j.ended(ctx)
		case err != nil && permanent(err):
			return nil, err
		case err != nil:
			j.await("%v", err)
		}
		if err := j.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// step does the next step, and reports whether none is left.
func (j *Job) step(ctx context.Context, s *state, r *Record) (bool, error) {
	if err := s.owns(r); err != nil {
		return false, err
	}
	step := rules.Next(s.Facts)
	switch step.Kind {
	case rules.Done:
		return true, nil
	case rules.Wait:
		j.await("%s%s", step.Message, s.stuck(step.Pod, j.Clock.Now()))
	case rules.Blocked:
		j.await("%s", step.Message)
	case rules.MoveLeader:
		return false, j.moveLeader(ctx, s, step.Pod)
	case rules.Restart:
		return false, j.restart(ctx, r, step.Pod)
	}
	return false, nil
}

// owns returns an error if the StatefulSet is another one than when the restart began.
func (s *state) owns(r *Record) error {
	if sts := s.sets[0]; r.journal.Object != sts.UID {
		return &StoppedError{fmt.Sprintf("StatefulSet %s/%s was created again since the restart began: delete ConfigMap %s", sts.Namespace, sts.Name, r.journal.Name())}
	}
	return nil
}

// moveLeader transfers leadership away from a member.
func (j *Job) moveLeader(ctx context.Context, s *state, from string) error {
	to, ok := j.successor(s)
	if !ok {
		j.await("%s is the leader, and no other voter can lead now", from)
		return nil
	}
	if err := j.StillHeld(); err != nil {
		return err
	}
	if err := maintenance.MoveLeader(ctx, j.members, s.survey, to); err != nil {
		return err
	}
	j.Logf("the leadership went from %s to %s", from, to)
	return nil
}

// successor returns the voter that leads next.
func (j *Job) successor(s *state) (string, bool) {
	to, ok := databases.Successor(s.databases)
	return to, ok && databases.MayLead(s.databases, to).Allowed
}

// restart evicts the pod that the journal has for a member.
func (j *Job) restart(ctx context.Context, r *Record, pod string) error {
	if err := j.StillHeld(); err != nil {
		return err
	}
	if err := j.evict(ctx, pod, r.Pods[pod], false); err != nil {
		return err
	}
	j.awaited = ""
	j.Logf("%s is evicted", pod)
	return nil
}

// finish removes the journal after the last step.
func (j *Job) finish(ctx context.Context, s *state, r *Record) ([]policy.Note, error) {
	notes := j.changedConfig(ctx, s, r)
	if err := j.StillHeld(); err != nil {
		return notes, err
	}
	return notes, r.journal.Delete(ctx, j.Kube)
}

// Restarted returns the pods of the record that are other pods by now.
func (j *Job) Restarted(ctx context.Context, r *Record) []string {
	pods, err := j.Reader.MemberPods(ctx, j.Owner)
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range pods {
		if uid, known := r.Pods[p.Name]; known && uid != p.UID {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}
