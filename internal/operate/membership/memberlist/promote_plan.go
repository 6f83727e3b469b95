// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// PlanPromote returns the learner with an ID, a name or a pod, and the plan to promote it. The plan
// is empty if the member is already a voter. The error is a *RefusedError if it must not be promoted.
func PlanPromote(ctx context.Context, c *etcd.Cluster, o owner.Owner, word string) (etcd.Listed, operate.Plan, error) {
	if err := unmanaged(o, "promote a member of "+o.String()); err != nil {
		return etcd.Listed{}, operate.Plan{}, err
	}
	s, err := SurveyQuorum(ctx, c, o, "promote "+word)
	if err != nil {
		return etcd.Listed{}, operate.Plan{}, err
	}
	l, err := findMember(s, word)
	_, answers := s.Other(l.ID)
	switch {
	case err != nil:
		return l, operate.Plan{}, err
	case !l.Learner:
		return l, operate.Plan{Already: fmt.Sprintf("Member %s is already a voter.", l.NameAndID())}, nil
	case l.Pod == "" && !answers:
		return l, operate.Plan{}, &operate.RefusedError{What: "promote " + l.NameAndID(), Why: []string{fmt.Sprintf(
			"it runs in no pod of the cluster, so the plugin can't see whether it has caught up. If it has, run kubectl etcd proxy %s -n %s -- etcdctl member promote %016x. Otherwise, run kubectl etcd member remove %s %016x -n %s",
			o.Target(), o.Namespace, l.ID, o.Target(), l.ID, o.Namespace)}}
	}
	voters := len(s.List) - 1
	return l, operate.Plan{
		Title: "promote member " + l.NameAndID(), Subject: subject(s),
		Facts: []string{fmt.Sprintf("%d voters, quorum is %d. With the vote of the learner, it is %d of %d", voters, policy.Quorum(voters), policy.Quorum(voters+1), voters+1)},
		Steps: []string{fmt.Sprintf("wait until it is at most %d entries behind the leader", policy.LagLimit), "promote it"},
	}, nil
}

// AwaitCaughtUp waits until a learner is near its leader in several surveys in a row.
func AwaitCaughtUp(ctx context.Context, c *etcd.Cluster, o owner.Owner, l etcd.Listed, timer clock.Clock) error {
	for near := 0; near < membership.CatchUpReads; {
		s, err := SurveyQuorum(ctx, c, o, "promote "+l.NameAndID())
		if err != nil {
			return err
		}
		behind, known := Behind(s, l)
		near++
		if !known || behind > policy.LagLimit {
			near = 0
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is %d entries behind its leader: %w", l.NameAndID(), behind, context.Cause(ctx))
		case <-timer.After(time.Second):
		}
	}
	return nil
}
