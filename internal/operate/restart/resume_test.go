// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// stage is a cluster on which a command dies at its n-th write.
type stage struct{ *operatetest.Crashing }

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{operatetest.NewCrashing(t)}
}

// job returns what a new command works with.
func (c *stage) job(t *testing.T) *Job {
	t.Helper()
	reader := &observe.Reader{Reader: c.Kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	target, err := owner.ParseTarget("statefulset/main")
	if err != nil {
		t.Fatal(err)
	}
	o, err := resolve.Target(t.Context(), reader, "team", target)
	if err != nil {
		t.Fatal(err)
	}
	j := &Job{
		Kube: c.Kube, Reader: reader, Owner: o, Tunnel: tunnel.New(c.Config()), StillHeld: func() error { return nil },
		Clock: &operatetest.HastyClock{Time: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}, Logf: func(string, ...any) {},
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// begin plans a restart of all members, or of one, and begins it.
func (c *stage) begin(ctx context.Context, t *testing.T, only string) error {
	t.Helper()
	j := c.job(t)
	left := c.Left
	c.Left = -1
	r, _, err := j.Plan(ctx, only)
	if err != nil {
		t.Fatal(err)
	}
	c.Left = left
	if err := j.Begin(ctx, r, false); err != nil {
		return err
	}
	_, err = j.Run(ctx, r)
	return err
}

// begun returns a restart of all members that has begun.
func (c *stage) begun(t *testing.T) (*Job, *Record) {
	t.Helper()
	j := c.job(t)
	r, _, err := j.Plan(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Begin(t.Context(), r, false); err != nil {
		t.Fatal(err)
	}
	return j, r
}

// resume ends what was begun, with a new command. It reports whether there was something.
func (c *stage) resume(ctx context.Context, t *testing.T, abort bool) bool {
	t.Helper()
	c.Left = -1
	j := c.job(t)
	r, err := Read(ctx, j.Kube, j.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return false
	}
	if abort {
		err = j.end(ctx, r)
	} else {
		_, err = j.Run(ctx, r)
	}
	if err != nil {
		t.Error(err)
	}
	if r, err = Read(ctx, j.Kube, j.Owner); err != nil || r != nil {
		t.Errorf("the journal is still there: %v", err)
	}
	return true
}

// evictions returns the pods that were evicted, in their order.
func (c *stage) evictions() []string {
	var pods []string
	for _, w := range c.Writes() {
		if rest, ok := strings.CutSuffix(w, "/eviction"); ok {
			pods = append(pods, rest[strings.LastIndex(rest, "/")+1:])
		}
	}
	return pods
}

// TestResume: a command that dies before any of its writes is completed by the same command. Each
// pod is evicted once, and none by a command that ends the restart.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, only string
		abort      bool
		// want are the pods that are evicted in the end, in their order.
		want string
	}{
		{name: "rolling", want: "main-2 main-1 main-0"},
		{name: "one member", only: "main-1", want: "main-1"},
		{name: "the leader", only: "main-0", want: "main-0"},
		{name: "abort", abort: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				if at > 20 {
					t.Fatal("it never ends")
				}
				c := newStage(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				c.Left = at
				err := c.begin(ctx, t, row.only)
				died := c.Left == 0
				if died != (err != nil) {
					t.Fatalf("dead at write %d: %t, and the command ended with %v", at, died, err)
				}
				before := c.evictions()
				begun := c.resume(ctx, t, row.abort)
				cancel()
				if !died {
					if at < 3 {
						t.Errorf("only %d writes", at-1)
					}
					return
				}
				if begun != (at > 1) {
					t.Errorf("dead at write %d: something was begun: %t", at, begun)
				}
				got := c.evictions()
				if row.abort && !slices.Equal(got, before) {
					t.Errorf("dead at write %d: --abort restarted %q after %q", at, got, before)
				}
				if begun && !row.abort && strings.Join(got, " ") != row.want {
					t.Errorf("dead at write %d: evicted %q, want %q", at, got, row.want)
				}
			}
		})
	}
}

// TestRunOfAnother: a restart whose StatefulSet was deleted and created again evicts no pod, and its
// journal stays.
func TestRunOfAnother(t *testing.T) {
	t.Parallel()
	c := newStage(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	j, r := c.begun(t)
	sts := c.Get(operatetest.Path("StatefulSet", "main"))
	operatetest.Field(sts, "metadata")["uid"] = "another"
	c.Put(operatetest.Path("StatefulSet", "main"), sts)
	for _, name := range []string{"main-0", "main-1", "main-2"} {
		pod := c.Get(operatetest.Path("Pod", name))
		operatetest.Field(pod, "metadata")["ownerReferences"].([]any)[0].(apitest.Object)["uid"] = "another" //nolint:forcetypeassert // as it was made
		c.Put(operatetest.Path("Pod", name), pod)
	}
	for _, abort := range []bool{false, true} {
		p, err := j.PlanResume(ctx, r, abort)
		if err == nil || !strings.Contains(err.Error(), "created again") || strings.Contains(fmt.Sprint(p.Facts), "no member was stopped") {
			t.Errorf("abort %t: the plan is %v, the error %v", abort, p.Facts, err)
		}
	}
	_, err := j.Run(ctx, r)
	if stopped, is := errors.AsType[*operate.HaltedError](err); !is || !strings.Contains(stopped.Error(), "StatefulSet team/main was created again since the restart began, so it can be neither continued nor undone: see what is left of it with kubectl etcd sweep -n team,") {
		t.Errorf("the error is %v", err)
	}
	if len(c.evictions()) > 0 || c.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) == nil {
		t.Errorf("evicted %q, and the ConfigMap is %v", c.evictions(), c.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")))
	}
}

// TestDataIsCheckedAgain: a claim that is deleted after a restart began stops it before its member.
func TestDataIsCheckedAgain(t *testing.T) {
	t.Parallel()
	c := newStage(t)
	j, r := c.begun(t)
	c.Remove("/api/v1/namespaces/team/persistentvolumeclaims/data-main-2")
	_, err := j.Run(t.Context(), r)
	if stopped := (*operate.HaltedError)(nil); !errors.As(err, &stopped) || !strings.Contains(err.Error(), "volume claim data-main-2 of main-2 does not exist") {
		t.Errorf("the error is %v", err)
	}
	if evicted := c.evictions(); len(evicted) > 0 {
		t.Errorf("evicted: %v", evicted)
	}
}

// TestEnd: a restart ends while a member is not back, and no member answers. An end that failed is
// repeated by the next attempt.
func TestEnd(t *testing.T) {
	t.Parallel()
	c := newStage(t)
	j, r := c.begun(t)
	c.Left, j.Abort = 0, true
	if _, err := j.Run(t.Context(), r); err == nil {
		t.Error("the journal was removed without a write")
	}
	c.Left = -1
	j.Tunnel = nil // a connection to a member panics
	if _, err := j.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if read, err := Read(t.Context(), j.Kube, j.Owner); err != nil || read != nil {
		t.Errorf("the journal is still there: %v", err)
	}
}
