// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/growth"
)

// Run makes step after step until every volume has the size. It observes the cluster before each.
func (j *Job) Run(ctx context.Context) (*Result, error) {
	for {
		s, err := j.observe(ctx)
		if err == nil {
			var done bool
			if done, err = j.step(ctx, s); done {
				return j.result(s), nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, j.waiter.Ended(ctx)
		case err != nil && (operate.Permanent(err) || etcd.Denied(err)):
			return nil, err
		case err != nil:
			j.waiter.Await(j.Logf, "%v", err)
		}
		if err := j.waiter.Pause(ctx, j.Clock, pollInterval); err != nil {
			return nil, err
		}
	}
}

// step makes the next step, and reports whether none is left.
func (j *Job) step(ctx context.Context, s *state) (done bool, err error) {
	if j.since == nil {
		j.since = s.members.UIDs()
	}
	step := rules.Next(s.Facts)
	switch step.Kind {
	case rules.Done:
		return true, nil
	case rules.Stopped:
		return false, operate.Halt("%s", step.Message)
	case rules.Blocked, rules.Wait:
		j.waiter.Await(j.Logf, "%s%s", step.Message, j.reported(ctx, s, step))
	case rules.Grow:
		return false, j.grow(ctx, s, step.Pod)
	case rules.MoveLeader:
		return false, j.MoveLeaderFrom(ctx, s.members, step.Pod)
	case rules.Restart:
		if err := j.RestartMember(ctx, s.members, step.Pod); err != nil {
			return false, err
		}
		j.restarted = append(j.restarted, step.Pod)
		j.waiter.Reset()
	}
	return false, nil
}

// reported returns what the driver last warned of about a claim that grows.
func (j *Job) reported(ctx context.Context, s *state, step rules.Step) string {
	claim := s.claims[step.Pod]
	if step.Reason != rules.VolumeGrowing || claim == nil {
		return ""
	}
	if warning := j.warning(ctx, claim); warning != "" {
		return "; last warning: " + warning
	}
	return ""
}

// grow requests the size in a member's claim.
func (j *Job) grow(ctx context.Context, s *state, pod string) error {
	if err := j.StillHeld(); err != nil {
		return err
	}
	claim := s.claims[pod]
	if err := j.request(ctx, claim, false); err != nil {
		return err
	}
	j.grown = append(j.grown, pod)
	j.Logf("claim %s of %s requests %s", claim.Name, pod, j.Size.String())
	j.waiter.Reset()
	return nil
}

// request writes the size into a claim, if it is still the one that was read.
func (j *Job) request(ctx context.Context, claim *corev1.PersistentVolumeClaim, dry bool) error {
	next := claim.DeepCopy()
	next.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: j.Size}
	var options []client.PatchOption
	if dry {
		options = append(options, client.DryRunAll)
	}
	if err := j.Kube.Patch(ctx, next, client.MergeFromWithOptions(claim, client.MergeFromWithOptimisticLock{}), options...); err != nil {
		return fmt.Errorf("request %s in PersistentVolumeClaim %s/%s: %w", j.Size.String(), claim.Namespace, claim.Name, err)
	}
	return nil
}

// Result is what a completed run has done.
type Result struct {
	// Grown are the pods whose claims request more, and Restarted those that were restarted for it.
	Grown, Restarted []string
	// Notes are what users should know, each a whole sentence.
	Notes []string
}

func (j *Job) result(s *state) *Result {
	slices.Sort(j.grown)
	slices.Sort(j.restarted)
	return &Result{Grown: slices.Compact(j.grown), Restarted: slices.Compact(j.restarted), Notes: append(j.templates(s), j.quota(s)...)}
}
