// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func oneLeader(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	v := f.voters()
	if v.leader == 0 {
		return []Finding{failure(f.describePods(v.noAnswer), "no member knows a leader: nothing can be written")}
	}
	var found []Finding
	name := fmt.Sprintf("member %016x", v.leader)
	if other, answers := f.Survey.Value.Other(v.leader); answers {
		name = other.Pod
	}
	for _, m := range f.Responding() {
		switch {
		case m.ID == v.leader:
			name = m.Pod
		case m.LeaderID == 0:
			alone := about(Failure, m.Pod, f.describePods([]etcd.Member{m}), "follows no leader: it can't reach the others, or is starting")
			alone.Reason = policy.MemberDown
			found = append(found, alone)
		case m.LeaderID != v.leader:
			other := about(Warning, m.Pod, f.Command("check", "--only Q004"), "follows %016x, most follow %016x: an election is under way, or the network is partitioned", m.LeaderID, v.leader)
			other.Reason = reasons.LeadersDiffer
			found = append(found, other)
		}
	}
	if len(found) > 0 {
		return found
	}
	return ok("%s leads", name)
}

func oneCluster(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	if f.etcdsOfTheirOwn() {
		return []Finding{f.describeSingles()}
	}
	in, named := f.ClusterIDs(), "in"
	ids := slices.Sorted(maps.Keys(in))
	switch {
	case len(ids) == 1 && f.Clusters() > 1:
		in, named = f.Survey.Value.Apart, "led by"
		ids = slices.Sorted(maps.Keys(in))
	case len(ids) == 1:
		return ok("%016x", ids[0])
	}
	slices.SortStableFunc(ids, func(a, b uint64) int { return len(in[b]) - len(in[a]) })
	var parts []string
	for _, id := range ids {
		parts = append(parts, fmt.Sprintf("%s %s %016x", policy.List(in[id]), named, id))
	}
	// A cut would also take the clients of the right cluster away, and it is not known which one
	// that is. The lists show who belongs to which.
	return []Finding{failure(f.Command("member list"), "split brain, %d clusters: %s", len(ids), strings.Join(parts, "; "))}
}

// The limits of a lag, in raft entries. A member that lags by LagWarn is busy. From lagFail on it refuses requests with
// "too many requests".
const (
	LagWarn = policy.LagLimit
	lagFail = policy.RequestGap
)

func raftLag(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var first etcd.Member
	for _, m := range f.Responding() {
		if m.RaftIndex > first.RaftIndex {
			first = m
		}
	}
	var found []Finding
	most := uint64(0)
	for _, m := range f.Responding() {
		behind := first.RaftIndex - min(m.RaftApplied, first.RaftIndex)
		most = max(most, behind)
		if behind <= LagWarn {
			continue
		}
		level := Warning
		if behind >= lagFail {
			level = Failure
		}
		found = append(found, about(level, m.Pod, f.Command("check", "--only D009,W004"), "has applied %d of %d raft entries, %d behind %s", m.RaftApplied, first.RaftIndex, behind, first.Pod))
	}
	if len(found) > 0 {
		return found
	}
	return ok("at most %s behind", policy.Plural(int(most), "entry", "entries"))
}

// changesPerHour is how many changes of the leader in an hour are too many.
const changesPerHour = 3

func steadyLeader(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var found []Finding
	judged := 0
	for _, m := range f.Responding() {
		got := f.Metrics[m.Pod]
		if got.Err != nil {
			found = append(found, unknown("the metrics of "+m.Pod, got.Err))
			continue
		}
		changes, has := value(got.Value, "etcd_server_leader_changes_seen_total")
		started, hasStart := value(got.Value, "process_start_time_seconds")
		if !has || !hasStart {
			continue
		}
		judged++
		up := f.At.Sub(time.Unix(int64(started), 0))
		if changes > changesPerHour*max(up.Hours(), 1) {
			found = append(found, warning(f.Command("check", "--only D009,W004"), "%s saw the leader change %.0f times in %s", m.Pod, changes, format.Age(up)))
		}
	}
	if len(found) == 0 && judged == 0 {
		return notApplicable("no member's metrics count changes of the leader")
	}
	return found
}
