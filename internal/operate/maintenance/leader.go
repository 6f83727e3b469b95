// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// electionLimit is how long an election may take. etcd needs some seconds, even with a long election
// timeout.
const electionLimit = 15 * time.Second

// maxAttempts is how often leadership is transferred: with slow members another member may be elected
// meanwhile, which then is the leader to ask.
const maxAttempts = 3

// errElected is returned where another member may have become the leader by an election.
var errElected = errors.New("another may have been elected")

// MoveLeader transfers leadership to the member of a pod and returns when that member leads, also where
// the leader has changed meanwhile. It asks no rule; see maintenance.MayLead.
func MoveLeader(ctx context.Context, members *etcd.Cluster, s etcd.Survey, to string, timer clock.Clock) error {
	for try := 1; ; try++ {
		err := moveLeader(ctx, members, s, to, timer)
		if !errors.Is(err, errElected) || try == maxAttempts {
			return err
		}
		var failed error
		if s, failed = members.Survey(ctx); failed != nil {
			return failed
		}
		if leader, ok := s.Leader(); ok && leader.Pod == to {
			return nil
		}
	}
}

// MoveLeaderTo does as MoveLeader for the member with an ID, which may also be one that another workload's pod runs.
func MoveLeaderTo(ctx context.Context, members *etcd.Cluster, s etcd.Survey, id uint64, timer clock.Clock) error {
	for _, m := range s.Answers() {
		if m.ID == id {
			return MoveLeader(ctx, members, s, m.Pod, timer)
		}
	}
	return fmt.Errorf("move the leadership to %016x: no member answers with this ID", id)
}

func moveLeader(ctx context.Context, members *etcd.Cluster, s etcd.Survey, to string, timer clock.Clock) error {
	from, ok := s.Leader()
	answers := s.Answers()
	at := slices.IndexFunc(answers, func(m etcd.Member) bool { return m.Pod == to })
	if !ok || at < 0 {
		return fmt.Errorf("move the leadership to %s: there is no leader, or no such member", to)
	}
	leader := from.Pod
	client, err := members.Client(ctx, leader)
	if err != nil {
		return err
	}
	// Only the leader itself can transfer leadership.
	_, err = client.MoveLeader(ctx, answers[at].ID)
	if err != nil && !noLeader(err) {
		return fmt.Errorf("move the leadership from %s to %s: %w", leader, to, explain(members, leader, err))
	}
	last, awaitErr := awaitLeader(ctx, members, to, timer)
	if awaitErr != nil {
		return fmt.Errorf("move the leadership from %s to %s: %w", leader, to, awaitErr)
	}
	if !last {
		return fmt.Errorf("move the leadership from %s to %s: it has not become the leader within %s; %w", leader, to, policy.Duration(electionLimit), errElected)
	}
	return nil
}

// noLeader reports whether the member that was asked is no longer the leader, or the transfer took too
// long. The leader must be read again.
func noLeader(err error) bool {
	return slices.ContainsFunc([]error{rpctypes.ErrNotLeader, rpctypes.ErrLeaderChanged, rpctypes.ErrTimeout, rpctypes.ErrTimeoutDueToLeaderFail}, func(e error) bool {
		return errors.Is(err, e)
	})
}

// awaitLeader reports whether a member becomes the leader in time.
func awaitLeader(ctx context.Context, members *etcd.Cluster, pod string, timer clock.Clock) (bool, error) {
	for began := timer.Now(); timer.Since(began) < electionLimit; {
		m := members.Status(ctx, pod)
		if m.Err == nil && m.Leader {
			return true, nil
		}
		if err := operate.Pause(ctx, timer, 100*time.Millisecond); err != nil {
			return false, err
		}
	}
	return false, nil
}

// explain adds the reason to an error of a member's client.
func explain(members *etcd.Cluster, pod string, err error) error {
	for _, e := range members.Endpoints {
		if e.Pod == pod {
			return etcd.Explain(e, err)
		}
	}
	return err
}
