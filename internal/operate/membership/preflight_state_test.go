// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// mainOwner is the owner of the cluster that well observes.
var mainOwner = owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}

// TestPreflightConnected: etcd adds no member while its leader counts a member as disconnected.
func TestPreflightConnected(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name      string
		away      []uint64
		is        func(*observation)
		replacing string
		want      string
	}{
		{name: "all are connected"},
		{name: "one isn't", away: []uint64{3}, want: "the leader main-0 counts main-2 as disconnected, though it is healthy, and etcd adds no member then: transfer leadership with kubectl etcd move-leader statefulset/main -n team"},
		{name: "the one that is replaced", away: []uint64{3}, replacing: "main-2"},
		{name: "the leader is replaced", away: []uint64{3}, replacing: "main-0"},
		{name: "one that was removed", away: []uint64{9}},
		{name: "one that is down", away: []uint64{2}, is: func(s *observation) { s.Members[1].Healthy = false }},
	} {
		s, f := well(), &operate.Findings{}
		if r.is != nil {
			r.is(s)
		}
		(&Members{Owner: mainOwner}).judgeConnected(s, "main-0", r.away, r.replacing, f)
		t.Run(r.name, func(t *testing.T) { t.Parallel(); refusedWith(t, f, r.want) })
	}
}

// TestAllLatest: only where every pod has the latest template does the status merely lag.
func TestAllLatest(t *testing.T) {
	t.Parallel()
	for want, is := range map[bool]func(*observation){
		true:  func(*observation) {},
		false: func(s *observation) { s.Ordinals[1].Updated = false },
	} {
		s := well()
		is(s)
		if got := s.allLatest(); got != want {
			t.Errorf("all have the latest: %t, want %t", got, want)
		}
	}
	gone := well()
	if gone.Ordinals[2].UID = ""; gone.allLatest() {
		t.Error("a pod that isn't there has the latest template")
	}
}

// atOnce is a clock on which no wait takes any time.
type atOnce struct{ clock.Clock }

func (atOnce) After(time.Duration) <-chan time.Time { return time.After(0) }

// TestPoll: what passes by itself is waited for, what doesn't is found at once, and
// only the last read counts.
func TestPoll(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		cancelled bool
		// passes is the poll that finds nothing; before that, polls report a transient problem if passing is true.
		passes  int
		passing bool
		reads   int
		finds   string
	}{
		{"passes", false, 3, true, 3, ""},
		{"lasts", false, 9, true, 5, "read 5"},
		{"does not pass", false, 9, false, 1, "read 1"},
		{"the context has ended", true, 9, true, 1, "read 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if row.cancelled {
				cancel()
			}
			reads, f := 0, &operate.Findings{}
			m := &Members{Clock: atOnce{}}
			m.poll(ctx, 5, f, func(seen *operate.Findings) bool {
				if reads++; reads == row.passes {
					return false
				}
				seen.Refuse("read %d", reads)
				seen.Warn("read %d", reads)
				return row.passing
			})
			want := &operate.Findings{}
			if row.finds != "" {
				want = &operate.Findings{Refusals: []string{row.finds}, Warnings: []string{row.finds}}
			}
			if reads != row.reads || fmt.Sprint(f) != fmt.Sprint(want) {
				t.Errorf("%d reads found %v, want %d and %v", reads, f, row.reads, want)
			}
		})
	}
}

// TestUnreadRisk has a sentence for each kind of program that can't be read.
func TestUnreadRisk(t *testing.T) {
	t.Parallel()
	for hook, want := range map[string]string{
		"":               "If it adds members to etcd or removes them, it works against this change.",
		"postStart":      "If it adds members to etcd or removes them, it works against this change.",
		etcdconf.PreStop: "If it removes the member from etcd, each pod that restarts takes a voter out.",
	} {
		if got := unreadRisk(etcdconf.MemberChange{Hook: hook}); !strings.HasPrefix(got, want) {
			t.Errorf("hook %q: %q, want %q", hook, got, want)
		}
	}
}

// TestRefuseSingles names the StatefulSet and the declaration.
func TestRefuseSingles(t *testing.T) {
	t.Parallel()
	err := refuseSingles(mainOwner)
	for _, want := range []string{"each pod lists itself alone", "kubectl etcd check statefulset/main -n team", "kubectl annotate statefulset main -n team kubectl-etcd.dev/etcd=false"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
