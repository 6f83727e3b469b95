// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

const (
	settleLimit = 2 * time.Minute
	settleEvery = 2 * time.Second
)

// Job defragments a cluster, and frees space where its databases are full. Its caller holds the
// cluster's lock.
type Job struct {
	Members *etcd.Cluster
	Clock   clock.Clock
	// Facts reads the cluster's facts.
	Facts func(context.Context) (policy.Cluster, error)
	// StillHeld is called right before each change. An error ends the work.
	StillHeld func() error
	// Settle is how long the cluster may take to be healthy again between two members, 0 for
	// two minutes.
	Settle time.Duration
	// Logf logs what was done, and Progressf what is being done and takes a while.
	Logf, Progressf func(format string, args ...any)
}

// State is what the rules of maintenance know at one time.
type State struct {
	Survey    etcd.Survey
	Databases []maintenance.Database
	// UnmappedAlarms are the types of alarms of members that did not answer or are not listed.
	UnmappedAlarms []string
	Cluster        policy.Cluster
}

// database returns the database of a pod's member.
func (s State) database(pod string) maintenance.Database {
	return s.Databases[slices.IndexFunc(s.Databases, func(d maintenance.Database) bool { return d.Pod == pod })]
}

// StoppedError is returned where a cluster is not healthy enough for the next member.
type StoppedError struct {
	Done, Left []string
	Verdict    policy.Verdict
}

func (e *StoppedError) Error() string {
	if len(e.Done) == 0 {
		return "no member was defragmented: " + e.Verdict.Message
	}
	return fmt.Sprintf("stopped after %s; not defragmented: %s: %s", strings.Join(e.Done, ", "), strings.Join(e.Left, ", "), e.Verdict.Message)
}

// readState reads what the rules need.
func (m *Job) readState(ctx context.Context) (State, error) {
	s, err := m.Members.Survey(ctx)
	if err != nil {
		return State{}, err
	}
	facts, err := m.Facts(ctx)
	return State{Survey: s, Databases: withSnapshots(ctx, m.Members, s), UnmappedAlarms: s.StrayTypes(), Cluster: facts}, err
}

// Defragment defragments all members, one at a time. The leader is last, and transfers leadership
// first. The rules decide before each member. Where they refuse for longer than Settle, the error is
// a *StoppedError.
func (m *Job) Defragment(ctx context.Context) error {
	var done []string
	var left []string
	for {
		state, verdict, err := m.await(ctx, len(done) > 0)
		if err != nil {
			return interrupted(done, left, err)
		}
		left = slices.DeleteFunc(maintenance.DefragOrder(state.Databases), func(pod string) bool { return slices.Contains(done, pod) })
		switch {
		case !verdict.Allowed:
			return &StoppedError{Done: done, Left: left, Verdict: verdict}
		case len(left) == 0:
			return nil
		}
		next := left[0]
		if handed, err := m.handOver(ctx, state, next); err != nil {
			return interrupted(done, left, err)
		} else if handed {
			continue // with a new state
		}
		if err := m.defragment(ctx, state, next); err != nil {
			return interrupted(done, left, err)
		}
		done = append(done, next)
	}
}

// interrupted adds the members that are done, and those that are left, to an error.
func interrupted(done, left []string, err error) error {
	left = slices.DeleteFunc(slices.Clone(left), func(pod string) bool { return slices.Contains(done, pod) })
	if len(done) == 0 || len(left) == 0 {
		return err
	}
	return fmt.Errorf("stopped after %s; not defragmented: %s: %w", strings.Join(done, ", "), strings.Join(left, ", "), err)
}

// await reads the state and asks the rules. With mayWait it waits until they allow, for Settle.
func (m *Job) await(ctx context.Context, mayWait bool) (State, policy.Verdict, error) {
	for began := m.Clock.Now(); ; {
		state, err := m.readState(ctx)
		if err != nil {
			return state, policy.Verdict{}, err
		}
		verdict := maintenance.MayDefrag(state.Cluster, state.Databases, state.UnmappedAlarms)
		if verdict.Allowed || !mayWait || m.Clock.Since(began) > cmp.Or(m.Settle, settleLimit) {
			return state, verdict, nil
		}
		m.Progressf("waiting: %s", verdict.Message)
		if err := operate.Pause(ctx, m.Clock, settleEvery); err != nil {
			return state, verdict, err
		}
	}
}

// handOver transfers leadership from the member that is next to one that is done, and reports whether it did. A single
// member has no other to transfer it to.
func (m *Job) handOver(ctx context.Context, s State, next string) (bool, error) {
	if !s.database(next).Leader || len(s.Databases) == 1 {
		return false, nil
	}
	to, ok := maintenance.Successor(s.Databases)
	if !ok {
		return false, fmt.Errorf("%s is the leader, and all other members are too far behind to become it", next)
	}
	if err := m.StillHeld(); err != nil {
		return false, err
	}
	if err := MoveLeader(ctx, m.Members, s.Survey, to, m.Clock); err != nil {
		return false, err
	}
	m.Logf("the leadership went from %s to %s", next, to)
	return true, nil
}

// defragment does one member, and waits until it answers again.
func (m *Job) defragment(ctx context.Context, s State, pod string) error {
	if err := m.StillHeld(); err != nil {
		return err
	}
	client, err := m.Members.Client(ctx, pod)
	if err != nil {
		return err
	}
	before := s.database(pod).Size
	m.Progressf("defragmenting %s, %s", pod, policy.Bytes(before))
	began := m.Clock.Now()
	// Not the client's own method, which makes another connection.
	if _, err := pb.NewMaintenanceClient(client.ActiveConnection()).Defragment(ctx, &pb.DefragmentRequest{}); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("the defragmentation of %s continues in the member: %w", pod, context.Cause(ctx))
		}
		return fmt.Errorf("defragment %s: %w", pod, explain(m.Members, pod, err))
	}
	took := m.Clock.Since(began)
	after, err := m.awaitMember(ctx, pod)
	if err != nil {
		return err
	}
	m.Logf("%s is defragmented: %s instead of %s, in %s", pod, policy.Bytes(after.DBSize), policy.Bytes(before), policy.Duration(took.Round(10*time.Millisecond)))
	return nil
}

// awaitMember waits until a member is back among the others.
func (m *Job) awaitMember(ctx context.Context, pod string) (etcd.Member, error) {
	for began := m.Clock.Now(); ; {
		survey, _ := m.Members.Survey(ctx) // it has the members also where it fails
		s := survey.Members[slices.IndexFunc(survey.Members, func(s etcd.Member) bool { return s.Pod == pod })]
		if survey.Healthy(s) {
			return s, nil
		}
		if err := operate.Pause(ctx, m.Clock, settleEvery); err != nil {
			return s, err
		}
		if m.Clock.Since(began) > cmp.Or(m.Settle, settleLimit) {
			return s, &StoppedError{Done: []string{pod}, Verdict: policy.Verdict{
				Reason: policy.MemberDown, Message: fmt.Sprintf("%s has not become healthy since: %s", pod, whyUnhealthy(s)),
			}}
		}
	}
}

func whyUnhealthy(m etcd.Member) string {
	if m.Err != nil {
		return etcd.Reason(m.Err)
	}
	return "it " + unled(m)
}
