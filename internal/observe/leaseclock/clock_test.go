// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package leaseclock

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
)

// start is the time at which tests begin.
var start = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// leaseLimit is three heartbeats.
const leaseLimit = 30 * time.Second

func memberLease(renewed time.Time) *coordinationv1.Lease {
	holder := "1:2:Member"
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: "main-0", UID: "1"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &metav1.MicroTime{Time: renewed}},
	}
}

func TestCountsFromTheChange(t *testing.T) {
	t.Parallel()
	now := testclock.NewFakePassiveClock(start)
	c := Clock{Clock: now}
	// The node's clock is an hour ahead; it changes nothing.
	ahead := start.Add(time.Hour)
	c.Observe(memberLease(ahead))
	now.SetTime(start.Add(10 * time.Second))
	c.Observe(memberLease(ahead.Add(10 * time.Second)))
	now.SetTime(start.Add(45 * time.Second))
	c.Observe(memberLease(ahead.Add(10 * time.Second)))
	got := c.Age(memberLease(ahead.Add(10*time.Second)), leaseLimit)
	if want := (Age{Age: 35 * time.Second, Confirmed: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// A clock that is set back is a renewal too.
	c.Observe(memberLease(start))
	if got := c.Age(memberLease(start), leaseLimit); got.Age != 0 || !got.Confirmed {
		t.Errorf("after the node's clock was set back: got %+v", got)
	}
}

func TestFirstObservation(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name              string
		reported, watched time.Duration
		want              Age
	}{
		{"renewed just before", 5 * time.Second, 0, Age{Age: 0}},
		{"past the limit within the skew", 50 * time.Second, 0, Age{Age: 0}},
		{"the clock ahead", -time.Hour, 0, Age{Age: 0}},
		{"past the limit and the skew", 61 * time.Second, 0, Age{Age: 61 * time.Second, Confirmed: true}},
		{"watched for the limit without a change", 5 * time.Second, 31 * time.Second, Age{Age: 31 * time.Second, Confirmed: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			now := testclock.NewFakePassiveClock(start)
			c := Clock{Clock: now}
			lease := memberLease(start.Add(-row.reported))
			c.Observe(lease)
			now.SetTime(start.Add(row.watched))
			if got := c.Age(lease, leaseLimit); got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

// TestSignificant: a controller need not read a cluster again for each of its heartbeats.
func TestSignificant(t *testing.T) {
	t.Parallel()
	c := Clock{Clock: testclock.NewFakePassiveClock(start)}
	before := memberLease(start)
	after := func(d time.Duration, change func(*coordinationv1.Lease)) *coordinationv1.Lease {
		lease := memberLease(start.Add(d))
		change(lease)
		return lease
	}
	same := func(*coordinationv1.Lease) {}
	if !c.Significant(before, after(10*time.Second, same)) {
		t.Error("a lease whose age no one has asked for: not significant")
	}
	c.Age(before, leaseLimit)
	leader := "1:2:Leader"
	for _, row := range []struct {
		name  string
		after *coordinationv1.Lease
		want  bool
	}{
		{"a heartbeat", after(10*time.Second, same), false},
		{"another label", after(0, func(l *coordinationv1.Lease) { l.Labels = map[string]string{"a": "b"} }), false},
		{"another role", after(10*time.Second, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &leader }), true},
		{"back from the dead", after(31*time.Second, same), true},
		{"a clock set back", after(-time.Second, same), true},
		{"created again", after(10*time.Second, func(l *coordinationv1.Lease) { l.UID = "2" }), true},
	} {
		if got := c.Significant(before, row.after); got != row.want {
			t.Errorf("%s: significant %v, want %v", row.name, got, row.want)
		}
	}
}

func TestRemoves(t *testing.T) {
	t.Parallel()
	now := testclock.NewFakePassiveClock(start)
	c := Clock{Clock: now}
	c.Age(memberLease(start), leaseLimit)
	now.SetTime(start.Add(20 * time.Second))
	c.Remove(memberLease(start))
	if got := c.Age(memberLease(start), leaseLimit); got.Age != 0 || got.Confirmed {
		t.Errorf("after it was removed: got %+v, want a first observation", got)
	}
	recreated := memberLease(start.Add(time.Second))
	recreated.UID = "2"
	if got := c.Age(recreated, leaseLimit); got.Confirmed {
		t.Errorf("created again: got %+v, want a first observation", got)
	}
}
