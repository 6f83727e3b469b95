// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// waitingClock calls a function at each wait.
type waitingClock struct {
	*operatetest.HastyClock

	wait func()
}

func (c waitingClock) After(d time.Duration) <-chan time.Time {
	c.wait()
	return c.HastyClock.After(d)
}

// TestWaits: each wait ends when what it waits for is there, when its time is over, or with its context.
func TestWaits(t *testing.T) {
	t.Parallel()
	moves := func(ctx context.Context, j *Job) error {
		_, err := awaitLeader(ctx, j.Members, "main-0", j.Clock)
		return err
	}
	settles := func(ctx context.Context, j *Job) error {
		_, verdict, err := j.await(ctx, true)
		if err == nil && !verdict.Allowed {
			return &StoppedError{Verdict: verdict}
		}
		return err
	}
	returns := func(ctx context.Context, j *Job) error {
		_, err := j.awaitMember(ctx, "main-1")
		return err
	}
	for _, row := range []struct {
		name string
		do   func(context.Context, *Job) error
		// settle is the Job's, and back is at which wait main-0 leads again, 0 for never.
		settle time.Duration
		back   int
		// canceled is at which wait the context ends, 0 for never.
		canceled int
		waited   time.Duration
		err      string
	}{
		{name: "no election", do: moves, waited: electionLimit},
		{name: "an election", do: moves, back: 30, waited: 3 * time.Second},
		{name: "an election, interrupted", do: moves, canceled: 2, waited: 200 * time.Millisecond, err: "context canceled"},
		{name: "the cluster does not settle", do: settles, waited: settleLimit + settleEvery, err: "no member was defragmented: "},
		{name: "the cluster does not settle in a shorter time", do: settles, settle: 10 * time.Second, waited: 12 * time.Second, err: "no member was defragmented: "},
		{name: "the cluster settles", do: settles, back: 5, waited: 10 * time.Second},
		{name: "the cluster settles, interrupted", do: settles, canceled: 1, waited: 2 * time.Second, err: "context canceled"},
		{name: "the member does not return", do: returns, waited: settleLimit + settleEvery, err: "main-1 has not become healthy since: it follows no leader"},
		{name: "the member returns", do: returns, back: 7, waited: 14 * time.Second},
		{name: "the member returns, interrupted", do: returns, canceled: 3, waited: 6 * time.Second, err: "context canceled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j, cluster := newJob(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began, waits := time.Unix(1000, 0), 0
			timer := waitingClock{&operatetest.HastyClock{Time: began}, func() {
				switch waits++; waits {
				case row.back:
					cluster.Leader = 1
				case row.canceled:
					cancel()
				}
			}}
			cluster.Leader, j.Clock, j.Settle = 0, timer, row.settle
			err := row.do(ctx, j)
			if waited := timer.Since(began); waited != row.waited || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("waited %s, want %s; the error is %v, want %q", waited, row.waited, err, row.err)
			}
		})
	}
}
