// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// crashing is a cluster on which a command dies at its n-th write.
type crashing struct{ *operatetest.Crashing }

func newCrashing(t *testing.T) *crashing {
	t.Helper()
	return &crashing{operatetest.NewCrashing(t)}
}

// members returns what a new command works with.
func (c *crashing) members(t *testing.T) *Members {
	t.Helper()
	reader := &observe.Reader{Reader: c.Kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	target, err := owner.ParseTarget("statefulset/main")
	if err != nil {
		t.Fatal(err)
	}
	owner, err := resolve.Target(t.Context(), reader, "team", target)
	if err != nil {
		t.Fatal(err)
	}
	m := &Members{
		Kube: c.Kube, Reader: reader, Owner: owner, Tunnel: tunnel.New(c.Config()),
		Clock: &operatetest.HastyClock{Time: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}, Logf: func(string, ...any) {},
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// waitLimit ends a command that waits for what doesn't come.
const waitLimit = time.Minute

// TestResume: a command that dies before any of its writes is finished by the same command,
// and taken back by --abort, and neither restarts a pod that was there.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		plan func(context.Context, *Members) (*Change, operate.Plan, error)
		// want is how many members there are at the end.
		want int
	}{
		{"scale out", func(ctx context.Context, m *Members) (*Change, operate.Plan, error) {
			return m.PlanScale(ctx, 5, false)
		}, 5},
		{"scale in", func(ctx context.Context, m *Members) (*Change, operate.Plan, error) {
			return m.PlanScale(ctx, 1, false)
		}, 1},
		{"replace", func(ctx context.Context, m *Members) (*Change, operate.Plan, error) {
			return m.PlanReplace(ctx, "main-2", true)
		}, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				crashed := resumed(t, row.plan, at, false, row.want, "")
				if crashed && at%2 == 1 { // each second write is enough for what costs as much again
					// A replacement that is taken back leaves main-2 with another template.
					crashed = resumed(t, row.plan, at, true, row.want, map[string]string{"replace": "main-2"}[row.name])
				}
				if t.Failed() || !crashed {
					t.Logf("%d writes", at-1)
					if at < 5 {
						t.Errorf("only %d writes", at-1)
					}
					return
				}
			}
		})
	}
}

// resumed has a command die at a write and another one finish or undo its change. It reports
// whether there was such a write. Only the pod mayRestart may be restarted meanwhile.
func resumed(t *testing.T, plan func(context.Context, *Members) (*Change, operate.Plan, error), at int, undo bool, want int, mayRestart string) bool {
	t.Helper()
	c := newCrashing(t)
	if !c.crash(t, plan, at) {
		return false
	}
	begun := c.resume(t, undo)
	if slices.ContainsFunc(c.Restarted, func(pod string) bool { return pod != mayRestart }) {
		t.Errorf("dead at write %d, undo %t: restarted %q", at, undo, c.Restarted)
	}
	if voters := len(c.Etcd.Members); begun && !undo && voters != want {
		t.Errorf("dead at write %d: %d members, want %d", at, voters, want)
	}
	if begun != (at > 1) {
		t.Errorf("dead at write %d: something was begun: %t", at, begun)
	}
	return true
}

// crash begins a change and reports whether the command died at its n-th write.
func (c *crashing) crash(t *testing.T, plan func(context.Context, *Members) (*Change, operate.Plan, error), n int) bool {
	t.Helper()
	m := c.members(t)
	j, _, err := plan(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	c.Left = n
	if err = m.Begin(ctx, j, false); err == nil {
		err = m.Run(ctx, j)
	}
	died := c.Left == 0
	c.Left = -1
	if died != (err != nil) {
		t.Errorf("write %d: died is %t, and the command ended with %v", n, died, err)
	}
	return died
}

// resume ends what was begun with a new command, and checks that nothing of it is left. It is
// false where nothing was begun: the first write is the journal.
func (c *crashing) resume(t *testing.T, undo bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	m := c.members(t)
	j, err := ReadChange(t.Context(), m.Kube, m.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if j == nil {
		return false
	}
	operation := j.Operation
	if undo {
		err = m.Undo(ctx, j, true)
	} else {
		err = m.Run(ctx, j)
	}
	if err != nil && !errors.As(err, new(*operate.HaltedError)) {
		t.Error(err)
	}
	c.Reconcile(t)
	if j, err = ReadChange(t.Context(), m.Kube, m.Owner); err != nil || j != nil {
		t.Errorf("undo %t: the journal is still there: %v", undo, err)
	}
	if mark, marked := c.markOfSet(); marked {
		t.Errorf("undo %t: the StatefulSet is still marked: %s", undo, mark)
	}
	for _, l := range c.Etcd.Members {
		if l.IsLearner {
			t.Errorf("undo %t: %s is still a learner", undo, l.Name)
		}
	}
	replicas := fmt.Sprint(operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"])
	// A member that was replaced and is removed stays so, until it is replaced again.
	if replaced := undo && operation == membership.Replace; replicas != fmt.Sprint(len(c.Etcd.Members)) && !replaced {
		t.Errorf("undo %t: %s replicas for %d members", undo, replicas, len(c.Etcd.Members))
	}
	return true
}
