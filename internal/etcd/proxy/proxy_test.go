// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
)

// TestNoVoters checks that a proxy without endpoints is an error.
func TestNoVoters(t *testing.T) {
	t.Parallel()
	members := &etcd.Cluster{Endpoints: make([]access.Endpoint, 1)}
	learners := etcd.Survey{Members: []etcd.Member{{Pod: "main-0", Learner: true}}}
	for _, row := range []struct {
		survey etcd.Survey
		one    bool
		want   string
	}{
		{want: "has no pods"},
		{one: true, want: "has no pods"},
		{survey: learners, one: true, want: "no pod with a voter"},
	} {
		_, err := Listen(t.Context(), Config{Members: members, Clock: clock.RealClock{}, One: row.one, Address: "127.0.0.1"}, row.survey)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("--one %t of %d members: %v, want %q", row.one, len(row.survey.Members), err, row.want)
		}
	}
}

// TestRoundRobin: connections alternate between the voters, and a member that has just failed is tried last.
func TestRoundRobin(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	p := &Proxy{Config: Config{Clock: now, Warn: func(string, error) {}}, failedAt: map[string]time.Time{}}
	e := &Endpoint{Pods: []string{"a", "b", "c"}}
	next := func() string { return strings.Join(p.roundRobin(e), "") }
	for _, want := range []string{"abc", "bca", "cab", "abc"} {
		if got := next(); got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	}
	p.markFailed("b", errors.New("refused"))
	if got := next(); got != "cab" {
		t.Errorf("after a failure of b, the order is %s", got)
	}
	now.SetTime(now.Now().Add(backoff))
	e.next = 1
	if got := next(); got != "bca" {
		t.Errorf("after the backoff, the order is %s", got)
	}
}
