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
)

// electionLimit is what an election gets; etcd's own is some seconds even where its
// election timeout is set high.
const electionLimit = 15 * time.Second

// maxAttempts is how often a leader is asked to hand over: on slow members another is
// elected meanwhile, which then is the one to ask.
const maxAttempts = 3

// errElected says that the leadership went elsewhere by itself.
var errElected = errors.New("another may have been elected")

// MoveLeader hands the leadership to the member in a pod and returns when that
// member leads, whoever led when it came to it. It asks no rule; see maintenance.MayLead.
func MoveLeader(ctx context.Context, members *etcd.Cluster, s etcd.Survey, to string) error {
	for try := 1; ; try++ {
		err := moveLeader(ctx, members, s, to)
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

func moveLeader(ctx context.Context, members *etcd.Cluster, s etcd.Survey, to string) error {
	from, ok := s.Leader()
	at := slices.IndexFunc(s.Members, func(m etcd.Member) bool { return m.Err == nil && m.Pod == to })
	if !ok || at < 0 {
		return fmt.Errorf("move the leadership to %s: there is no leader, or no such member", to)
	}
	leader := from.Pod
	client, err := members.Client(ctx, leader)
	if err != nil {
		return err
	}
	// Only the leader itself can hand over.
	_, err = client.MoveLeader(ctx, s.Members[at].ID)
	if err != nil && !noLeader(err) {
		return fmt.Errorf("move the leadership from %s to %s: %w", leader, to, explain(members, leader, err))
	}
	last, awaitErr := awaitLeader(ctx, members, to)
	if awaitErr != nil {
		return fmt.Errorf("move the leadership from %s to %s: %w", leader, to, awaitErr)
	}
	if !last {
		return fmt.Errorf("move the leadership from %s to %s: it has not become the leader within %s; %w", leader, to, electionLimit, errElected)
	}
	return nil
}

// noLeader says that whoever was asked to hand over doesn't lead any more, or that it
// took too long: who leads now is to be seen.
func noLeader(err error) bool {
	return slices.ContainsFunc([]error{rpctypes.ErrNotLeader, rpctypes.ErrLeaderChanged, rpctypes.ErrTimeout, rpctypes.ErrTimeoutDueToLeaderFail}, func(e error) bool {
		return errors.Is(err, e)
	})
}

// awaitLeader returns whether a member came to lead in time.
func awaitLeader(ctx context.Context, members *etcd.Cluster, pod string) (bool, error) {
	timer := clock.RealClock{}
	for began := timer.Now(); timer.Since(began) < electionLimit; {
		m := members.Status(ctx, pod)
		if m.Err == nil && m.Leader {
			return true, nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return false, err
		}
	}
	return false, nil
}

// pause waits, or returns why the context ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// explain words an error of one member's client.
func explain(members *etcd.Cluster, pod string, err error) error {
	for _, e := range members.Endpoints {
		if e.Pod == pod {
			return etcd.Explain(e, err)
		}
	}
	return err
}
