// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// Run is a drain in progress.
type Run struct {
	*Job

	// Left are the nodes that are not drained yet, Cordoned those that were cordoned or were so before.
	Left, Cordoned []string
	// Idle returns a *operate.HaltedError if an operation on a cluster is unfinished, so that no wave may begin.
	Idle func(ctx context.Context, o owner.Owner) error
	// Drained is called for each cluster of which a wave has evicted members.
	Drained func(ctx context.Context, o owner.Owner, pods []string)

	away []evicted
}

// evicted is a member that must be ready again before another wave.
type evicted struct {
	drain.Back

	uid   types.UID
	node  string // that it was evicted from
	owner owner.Owner
	// ready is how many members of its cluster were ready before.
	ready int
	// at is when it was evicted, and created when its pod was created.
	at, created time.Time
	// others are the pods that its cluster had before, if its new pod may have another name.
	others map[types.UID]bool
}

// Do drains the nodes.
func (r *Run) Do(ctx context.Context) error {
	if err := r.cordon(ctx); err != nil {
		return err
	}
	for len(r.Left) > 0 {
		s, err := r.next(ctx)
		if err != nil {
			return err
		}
		w := s.Plan.Waves[0]
		if err := r.wave(ctx, s, w); err != nil {
			return err
		}
		if len(w.Batches) < 2 {
			r.Left = slices.DeleteFunc(r.Left, func(n string) bool { return slices.Contains(w.Nodes, n) })
			r.Logf("drained %s", policy.List(w.Nodes))
		}
	}
	return nil
}

// next waits until the next wave may begin, and returns what was observed then.
func (r *Run) next(ctx context.Context) (*State, error) {
	for {
		s, wait, err := r.ready(ctx)
		switch {
		case err == nil && wait == "":
			r.away = nil
			r.waiter.Reset()
			return s, nil
		case ctx.Err() != nil:
			return nil, r.waiter.Ended(ctx)
		case err != nil && permanent(err):
			return nil, err
		case err != nil:
			wait = "the cluster can be observed: " + err.Error()
		}
		r.waiter.Await(r.Logf, "%s", wait)
		if err := r.waiter.Pause(ctx, r.Clock, pollInterval); err != nil {
			return nil, err
		}
	}
}

// ready observes the nodes that are left, and returns what the next wave waits for.
func (r *Run) ready(ctx context.Context) (*State, string, error) {
	s, err := r.Observe(ctx, r.Left)
	if err != nil {
		return nil, "", err
	}
	if len(s.Unseen) > 0 {
		return nil, "", operate.Halt("it is no longer known what blocks the nodes: %v", s.Unseen[0].Err)
	}
	for _, o := range s.Owners {
		if err := r.Idle(ctx, o); err != nil {
			return nil, "", err
		}
	}
	wait, err := r.waits(ctx)
	if err == nil && wait == "" {
		wait, err = r.blocked(s)
	}
	return s, wait, err
}

// permanent reports whether a retry won't help.
func permanent(err error) bool {
	return operate.Permanent(err) || errors.As(err, new(*MissingNodesError))
}

// blocked returns why no wave may begin now, or an error if waiting won't change that.
func (r *Run) blocked(s *State) (string, error) {
	wait := ""
	for _, b := range s.Plan.Blocked {
		for _, c := range b.Causes {
			switch c.Reason {
			case drain.OtherPodsBlock, drain.SeveralBudgets, drain.MembersShareNode, policy.SizeUnknown:
				return "", operate.Halt("node %s can't be drained any more: %s", b.Node, c.Message)
			}
			if wait == "" {
				wait = fmt.Sprintf("node %s can be drained: %s", b.Node, c.Message)
			}
		}
	}
	if len(s.Plan.Waves) > 0 {
		return "", nil
	}
	return wait, nil
}

// waits returns the first member that is not back, or an error if it can't come back by itself.
func (r *Run) waits(ctx context.Context) (string, error) {
	for _, m := range r.away {
		back, next, err := r.isBack(ctx, m)
		switch {
		case err != nil:
			return "", err
		case back:
		case m.Reason == drain.AwaitUncordon && next != nil && next.Spec.NodeName == "":
			return "", operate.Halt("the next wave can't begin: %s", m.Message)
		case r.unschedulable(next) != "":
			return "", operate.Halt("the next wave can't begin: no node has run pod %s/%s for %s (%s). If node %s can run it, uncordon the node after its maintenance, and wait until the pod is ready",
				m.Namespace, next.Name, policy.Duration(nodeTimeout), r.unschedulable(next), m.node)
		case r.notBack(m, next) != "":
			return "", operate.Halt("the next wave can't begin: %s. %s shows why, and what to do", r.notBack(m, next), m.owner.Command("diagnose"))
		default:
			return "pod " + m.Namespace + "/" + m.Pod + " is ready again", nil
		}
	}
	return "", nil
}

// wave evicts the first batch of a wave and, if there is no other, the other pods of its nodes.
func (r *Run) wave(ctx context.Context, s *State, w drain.Wave) error {
	var others []corev1.Pod
	for _, name := range w.Nodes {
		others = append(others, s.node(name).Others...)
	}
	if len(w.Batches) > 0 {
		if err := r.evictBatch(ctx, s, w); err != nil {
			return err
		}
	}
	if len(w.Batches) > 1 || len(others) == 0 {
		return nil
	}
	r.waiter.Await(r.Logf, "kubectl drain evicts %s", policy.Count(len(others), "other pod"))
	if err := r.Kubectl.Evict(ctx, others); err != nil {
		if ctx.Err() != nil {
			return r.waiter.Ended(ctx)
		}
		return fmt.Errorf("evict the other pods of %s: %w", strings.Join(w.Nodes, ", "), err)
	}
	r.waiter.Reset()
	return nil
}
