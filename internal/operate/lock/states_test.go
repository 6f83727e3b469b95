// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/team/leases/kubectl-etcd-statefulset-main"

var o = owner.Owner{Kind: "StatefulSet", Namespace: "team", Name: "main"}

// steppedClock is a clock on which a wait takes no time. It passes second by second, with a
// call of tick before each, until the seconds are over. From then on no wait ends.
type steppedClock struct {
	*clocktesting.FakeClock

	tick         func(second int)
	second, last int
	over         chan struct{}
}

func stepped(last int, tick func(second int)) *steppedClock {
	return &steppedClock{
		FakeClock: clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		tick:      tick, last: last, over: make(chan struct{}),
	}
}

func (c *steppedClock) After(d time.Duration) <-chan time.Time {
	for range int(d / time.Second) {
		if c.second == c.last {
			close(c.over)
			return nil
		}
		c.tick(c.second)
		c.second++
		c.Step(time.Second)
	}
	passed := make(chan time.Time, 1)
	passed <- c.Now()
	return passed
}

// put keeps a lease with a holder; empty is none.
func put(s *apitest.Server, holder, renewed string) {
	spec := apitest.Object{"leaseDurationSeconds": 15, "renewTime": renewed, "acquireTime": "2020-01-01T00:00:00.000000Z"}
	if holder != "" {
		spec["holderIdentity"] = holder
	}
	s.Put(leasePath, apitest.Object{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec,
		"metadata": apitest.Object{"namespace": "team", "name": Name(o), "annotations": apitest.Object{OperationAnnotation: "scale"}},
	})
}

const (
	early = "2020-01-01T00:00:01.000000Z"
	later = "2031-01-01T00:00:02.000000Z"
)

type acquireRow struct {
	name string
	// before and during change the lease, the latter in the fifth second.
	before, during func(*apitest.Server)
	// conflicts is how many times another creates the lease first. code refuses every request.
	conflicts int32
	code      int
	// held is whose the lock stays, previous whose it was, err a part of another error.
	held, previous, err string
	waited              bool
}

// TestAcquire: who gets a lock, by what the lease is and what happens to it meanwhile. The
// holder's clock, which is years away, makes no difference.
func TestAcquire(t *testing.T) {
	t.Parallel()
	for _, row := range []acquireRow{
		{name: "no lease"},
		{name: "no holder", before: func(s *apitest.Server) { put(s, "", early) }},
		{name: "a dead holder", before: func(s *apitest.Server) { put(s, "cat", early) }, previous: "cat", waited: true},
		{name: "a dead holder of the future", before: func(s *apitest.Server) { put(s, "cat", later) }, previous: "cat", waited: true},
		{name: "a holder that renews", before: func(s *apitest.Server) { put(s, "cat", early) }, during: func(s *apitest.Server) { put(s, "cat", later) }, held: "cat", waited: true},
		{name: "another holder comes", before: func(s *apitest.Server) { put(s, "cat", early) }, during: func(s *apitest.Server) { put(s, "dan", early) }, held: "dan", waited: true},
		{name: "released meanwhile", before: func(s *apitest.Server) { put(s, "cat", early) }, during: func(s *apitest.Server) { put(s, "", early) }, previous: "cat", waited: true},
		{name: "deleted meanwhile", before: func(s *apitest.Server) { put(s, "cat", early) }, during: func(s *apitest.Server) { s.Remove(leasePath) }, waited: true},
		{name: "another is faster, once", conflicts: 1},
		{name: "another is always faster", conflicts: 99, err: "lock StatefulSet team/main"},
		{name: "no permission", code: http.StatusForbidden, err: "lock StatefulSet team/main"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			if row.before != nil {
				row.before(s)
			}
			kube := s.Client(t)
			var posts atomic.Int32
			s.Refuse = func(method, path string) int {
				if method == http.MethodPost && strings.HasSuffix(path, "/leases") && posts.Add(1) <= row.conflicts {
					return http.StatusConflict
				}
				return row.code
			}
			waited := false
			held, err := Acquire(t.Context(), kube, o, Claim{
				Operation: "scale", Holder: "ann", Waiting: func(Holder, time.Duration) { waited = true },
				Clock: stepped(20, func(second int) {
					if second == 5 && row.during != nil {
						row.during(s)
					}
				}),
			})
			if waited != row.waited {
				t.Errorf("waited is %t", waited)
			}
			if row.held+row.err == "" {
				wantAcquired(t, s, held, err, row.previous)
			} else {
				wantRefused(t, err, row)
			}
		})
	}
}

func wantRefused(t *testing.T, err error, row acquireRow) {
	t.Helper()
	other, held := errors.AsType[*HeldError](err)
	if held != (row.held != "") || held && other.Holder.Identity != row.held {
		t.Errorf("%v, want that %q holds it", err, row.held)
	}
	if err == nil || !strings.Contains(err.Error(), row.err) {
		t.Errorf("%v, want %q", err, row.err)
	}
}

// wantAcquired also releases the lock.
func wantAcquired(t *testing.T, s *apitest.Server, held *Lock, err error, previous string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	was := ""
	if held.Previous != nil {
		was = held.Previous.Identity
	}
	if was != previous || held.StillHeld() != nil || identity(s) != "ann" {
		t.Errorf("previous holder %q, held %v, by %q", was, held.StillHeld(), identity(s))
	}
	if err := held.Release(t.Context()); err != nil || identity(s) != "" {
		t.Errorf("released: %v, the lease is %v", err, s.Get(leasePath))
	}
	if err := held.StillHeld(); !errors.Is(err, ErrReleased) {
		t.Errorf("after the release: %v", err)
	}
}

func identity(s *apitest.Server) string {
	spec, _ := s.Get(leasePath)["spec"].(map[string]any)
	holder, _ := spec["holderIdentity"].(string)
	return holder
}

// TestRenewal: what ends a lock that is held, and what doesn't. A lost lock stays whose it is.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		during func(*apitest.Server)
		code   int32
		lost   string
		left   string
	}{
		{name: "nothing happens", left: "ann"},
		{name: "another took it", during: func(s *apitest.Server) { put(s, "mallory", later) }, lost: "mallory", left: "mallory"},
		{name: "deleted", during: func(s *apitest.Server) { s.Remove(leasePath) }, lost: "deleted"},
		{name: "another annotates it", during: func(s *apitest.Server) {
			o := runtime.DeepCopyJSON(s.Get(leasePath))
			o["metadata"].(map[string]any)["annotations"].(map[string]any)["example.com/seen"] = "yes" //nolint:forcetypeassert // as it was written
			s.Put(leasePath, o)
		}, left: "ann"},
		{name: "the API server fails", code: http.StatusInternalServerError, lost: "not renewed for 10s", left: "ann"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			var failing atomic.Int32
			s.Refuse = func(method, path string) int {
				if method == http.MethodPut && path == leasePath {
					return int(failing.Load())
				}
				return 0
			}
			kube := s.Client(t)
			clock := stepped(60, func(second int) {
				if second != 2 {
					return
				}
				if row.during != nil {
					row.during(s)
				}
				failing.Store(row.code)
			})
			held, err := Acquire(t.Context(), kube, o, Claim{Operation: "scale", Holder: "ann", Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-held.Context().Done():
			case <-clock.over:
			}
			if cause := context.Cause(held.Context()); !lostBy(cause, row.lost) {
				t.Errorf("the lock ended with %v, want %q", cause, row.lost)
			}
			if got := identity(s); got != row.left {
				t.Errorf("the lease is %q's", got)
			}
			failing.Store(0)
			err = held.Release(t.Context())
			want := row.left
			if row.lost == "" {
				want = "" // one that is free stays where a renewal was under way
			}
			if !lostBy(err, row.lost) || identity(s) != want {
				t.Errorf("released with %v, the lease is %q's: %v", err, identity(s), s.Get(leasePath))
			}
		})
	}
}

// lostBy reports whether an error is a lost lock with this reason; none is no loss.
func lostBy(err error, why string) bool {
	lost, is := errors.AsType[*LostError](err)
	return is == (why != "") && (!is || strings.Contains(lost.Error(), why))
}

// TestRelease: a lease with records stays, without a holder, as one does that may not be deleted.
func TestRelease(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		record bool
		refuse int
		stays  bool
	}{
		{name: "nothing recorded"},
		{name: "a record", record: true, stays: true},
		{name: "no permission to delete", refuse: http.StatusForbidden, stays: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			s.Refuse = func(method, _ string) int {
				if method == http.MethodDelete {
					return row.refuse
				}
				return 0
			}
			kube := s.Client(t)
			ctx, interrupt := context.WithCancel(t.Context())
			held, err := Acquire(ctx, kube, o, Claim{Operation: "cut", Holder: "ann", Clock: clocktesting.NewFakeClock(time.Unix(0, 0))})
			if err != nil {
				t.Fatal(err)
			}
			if err := held.SetRecord(ctx, "note", "a"); err != nil || Records(held.lease)["note"] != "a" {
				t.Errorf("the records are %v: %v", Records(held.lease), err)
			}
			interrupt()
			if err := held.SetRecord(t.Context(), "late", "b"); err == nil {
				t.Error("a record is set after an interrupt")
			}
			if !row.record {
				if err := held.DeleteRecord(t.Context(), "note"); err != nil {
					t.Errorf("an interrupted operation can't clean up: %v", err)
				}
			}
			if err := held.Release(ctx); err != nil {
				t.Error(err)
			}
			if there := s.Get(leasePath) != nil; there != row.stays || identity(s) != "" {
				t.Errorf("the lease is there: %t, of %q", there, identity(s))
			}
			records, err := ReadRecords(t.Context(), kube, o)
			if err != nil || len(records) > 0 != row.record {
				t.Errorf("what stays recorded is %v: %v", records, err)
			}
		})
	}
}

// TestCheckHeld: a read-only command stops for an operation of its list that is alive, and for
// nothing else.
func TestCheckHeld(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, holder string
		code         int
	}{{name: "no holder"}, {name: "no permission", holder: "cat", code: http.StatusForbidden}, {name: "no lease", code: http.StatusNotFound}} {
		s := apitest.New(t)
		put(s, row.holder, early)
		s.Refuse = func(string, string) int { return row.code }
		if err := CheckHeld(t.Context(), s.Client(t), o, []string{"scale"}, nil); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	s := apitest.New(t)
	put(s, "cat", early)
	kube := s.Client(t)
	if err := CheckHeld(t.Context(), kube, o, []string{"defrag"}, nil); err != nil {
		t.Errorf("another operation: %v", err)
	}
	renewed := Claim{Cluster: o.String(), Clock: stepped(60, func(second int) {
		if second == 3 {
			put(s, "cat", later)
		}
	})}
	lease := leaseKey(o)
	if _, err := AwaitFree(t.Context(), kube, lease, renewed); err == nil {
		t.Error("a lock that is renewed is taken for free")
	}
	if _, err := AwaitFree(t.Context(), kube, lease, Claim{Clock: stepped(60, func(int) {})}); err != nil {
		t.Errorf("a dead holder's lock: %v", err)
	}
	if len(s.Writes()) > 0 {
		t.Errorf("checking wrote %v", s.Writes())
	}
}
