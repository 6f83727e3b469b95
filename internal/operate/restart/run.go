// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
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
	if r.Strategy == Coordinated {
		return j.tryCoordinated(ctx, s, r)
	}
	first := rules.Order(s.Facts)[0]
	_, err = j.evict(ctx, first, s.uid(first), true)
	return err
}

// end removes the journal, so that no further member is restarted. It does not wait for a member
// that is not back yet, and needs no member that answers: other commands can then repair it.
func (j *Job) end(ctx context.Context, r *Record) error {
	if err := j.StillHeld(); err != nil {
		return err
	}
	return r.journal.Delete(ctx, j.Kube)
}

// Run restarts member after member until none is left, and removes the journal. It observes the
// cluster before each step. It returns what users should know about the result. If the restart is aborted, it only brings
// back the members that a coordinated one has stopped.
func (j *Job) Run(ctx context.Context, r *Record) ([]policy.Note, error) {
	if j.Abort && r.Strategy != Coordinated {
		return nil, j.end(ctx, r)
	}
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
			return nil, j.waiter.Ended(ctx)
		case err != nil && permanent(err):
			return nil, err
		case err != nil:
			j.waiter.Await(j.Logf, "%v", err)
		}
		if err := j.waiter.Pause(ctx, j.Clock, pollInterval); err != nil {
			return nil, err
		}
	}
}

// step does the next step, and reports whether none is left.
func (j *Job) step(ctx context.Context, s *state, r *Record) (bool, error) {
	if err := s.owns(r); err != nil {
		return false, err
	}
	if r.Strategy == Coordinated {
		return j.stepCoordinated(ctx, s, r)
	}
	step := rules.Next(s.Facts)
	switch step.Kind {
	case rules.Done:
		return true, nil
	case rules.Wait:
		message := step.Message
		if why := s.deletionStuck(step.Pod, j.Clock.Now()); why != "" {
			message += ": " + why
		}
		j.waiter.Await(j.Logf, "%s", message)
	case rules.Blocked:
		j.waiter.Await(j.Logf, "%s", step.Message)
	case rules.MoveLeader:
		return false, j.moveLeader(ctx, s, step.Pod)
	case rules.Restart:
		return false, j.restart(ctx, s, r, step.Pod)
	}
	return false, nil
}

// owns returns an error if the StatefulSet is another one than when the restart began.
func (s *state) owns(r *Record) error {
	if sts := s.sets[0]; r.journal.Object != sts.UID {
		return operate.HaltForGood("%s", r.journal.Replaced(sts))
	}
	return nil
}

// moveLeader transfers leadership away from a member.
func (j *Job) moveLeader(ctx context.Context, s *state, from string) error {
	to, ok := j.successor(s)
	if !ok {
		j.waiter.Await(j.Logf, "%s is the leader, and no other voter can lead now", from)
		return nil
	}
	if err := j.StillHeld(); err != nil {
		return err
	}
	if err := maintenance.MoveLeader(ctx, j.members, s.survey, to, j.Clock); err != nil {
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

// restart evicts the pod that the journal has for a member. What Plan has checked may be another
// since then.
func (j *Job) restart(ctx context.Context, s *state, r *Record, pod string) error {
	f := &operate.Findings{}
	if err := j.checkPod(ctx, s, pod, f); err != nil {
		return err
	}
	if len(f.Refusals) > 0 {
		return operate.Halt("%s must not be stopped: %s", pod, strings.Join(f.Refusals, "; "))
	}
	if err := j.checkUnchanged(ctx, s, r); err != nil {
		return err
	}
	if err := j.StillHeld(); err != nil {
		return err
	}
	evicted, err := j.evict(ctx, pod, r.Pods[pod], false)
	switch {
	case err != nil:
		return err
	case evicted:
		j.Logf("%s is evicted", pod)
	default:
		j.Logf("another client has replaced or deleted %s", pod)
	}
	j.waiter.Reset()
	return nil
}

// checkPod checks that a member keeps its data when its pod stops, and that its next pod can start.
func (j *Job) checkPod(ctx context.Context, s *state, name string, f *operate.Findings) error {
	for _, pod := range s.pods {
		if pod.Name != name {
			continue
		}
		if err := j.checkData(ctx, s, pod, f); err != nil {
			return err
		}
	}
	j.checkHooks(f)
	if err := j.refusePeers(ctx, s, []string{name}, f); err != nil {
		return err
	}
	_, err := j.readConfig(ctx, s.sets, f)
	return err
}

// finish removes the journal after the last step.
func (j *Job) finish(ctx context.Context, s *state, r *Record) ([]policy.Note, error) {
	notes := append(j.changedConfig(ctx, s, r), j.notes...)
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
