// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

func quorumChecks() []Check {
	return []Check{
		{
			ID: "Q001", Category: Quorum, Title: "a quorum of voters answers and follows one leader",
			Doc:  "More than half of the voters must answer and follow the same leader. Without that nothing can be written or read consistently. Members that the plugin could not ask make this unknown, not failed.",
			Cure: "Bring back the pods of the voters that are named: look at why they don't run. Don't delete data or members: that turns an outage into a loss.",
			run:  quorumAnswers, needs: needMembers,
		},
		{
			ID: "Q002", Category: Quorum, Title: "one more member may fail",
			Doc:  "The slack is the number of voters that can fail before quorum is lost. At 0 the next node drain, crash or slow disk is an outage.",
			Cure: "Bring back the member that is down, or replace it. A cluster of one or two has no slack by design: scale to three.",
			run:  quorumSlack, needs: needMembers,
		},
		{
			ID: "Q003", Category: Quorum, Title: "the number of voters is odd and at most seven",
			Doc:  "An even number of voters tolerates no more failures than the odd number below it, and makes every write wait for one more member. More than seven make writes slow for nothing.",
			Cure: "Scale to the next odd number, at most 7. Where there are more or fewer voters than replicas, look at M001 to M004 first.",
			run:  oddSize, needs: needMembers,
		},
		{
			ID: "Q004", Category: Quorum, Title: "all members agree on the leader",
			Doc:  "Each member says whom it follows. A member without a leader is cut off from the others or still starting; two different answers are an election under way, or a partition.",
			Cure: "Run the check again after a few seconds. If it stays, look at the network between the members' nodes and at the peer Service.",
			run:  oneLeader, needs: needMembers,
		},
		{
			ID: "Q005", Category: Quorum, Title: "all members belong to one cluster",
			Doc:  "Members with different cluster IDs are different clusters behind one name: a member was bootstrapped anew with an empty volume. Clients then read and write whichever they reach.",
			Cure: "Cut client traffic, decide by revision and key count which cluster is the real one, snapshot both by --member, then bring all members back from its snapshot: kubectl etcd snapshot restore-plan.",
			run:  oneCluster, needs: needMembers,
		},
		{
			ID: "Q006", Category: Quorum, Title: "no member lags behind",
			Doc:  "The raft index that a member has applied, against the highest that any has. From 5,000 entries on etcd refuses writes on that member, and the leader may have to send it a whole snapshot.",
			Cure: "Look at the disk and the network of the member that lags. Don't defragment meanwhile.",
			run:  raftLag, needs: needMembers,
		},
		{
			ID: "Q007", Category: Quorum, Title: "the leader is steady",
			Doc:  "How often each member has seen the leader change since it started. Every change stops writes for about a second. Frequent changes come from slow disks, starved CPUs or a slow network.",
			Cure: "Look at D009 (disk latency), W004 (CPU requests) and the round trip between nodes, before raising the election timeout.",
			run:  steadyLeader, needs: needMembers | needMetrics,
		},
	}
}

func quorumAnswers(f *Facts) []Finding {
	if found, asked := f.asked(); f.Survey.Err != nil || !asked && f.size() == 0 {
		return found
	}
	c := f.census()
	numbers := fmt.Sprintf("%d of %d voters, quorum is %d", len(c.following), c.voters, c.quorum())
	var found []Finding
	switch {
	case len(c.following) >= c.quorum():
		found = ok("%s", numbers)
	case len(c.following)+len(c.unasked) >= c.quorum():
		found = []Finding{{Level: Unknown, Message: numbers + "; " + list(pods(c.unasked)) + " could not be asked"}}
	default:
		found = []Finding{failure(f.look(c.silent), "%s: nothing can be written", numbers)}
	}
	for _, m := range c.unasked {
		found = append(found, unknown(m.Pod+" could not be asked", m.Err))
	}
	outsiders := f.Survey.Value.Outsiders()
	for _, m := range c.silent {
		if slices.Contains(outsiders, m.Pod) {
			continue // no voter: M002 says so
		}
		found = append(found, failure(f.look([]etcd.Member{m}), "%s: %s", m.Pod, etcd.Reason(m.Err)))
	}
	return found
}

// look is the command that shows why members don't run.
func (f *Facts) look(members []etcd.Member) string {
	if len(members) == 0 {
		return f.cmd("status")
	}
	return f.kubectl("describe pod " + strings.Join(pods(members), " "))
}

func quorumSlack(f *Facts) []Finding {
	if found, asked := f.asked(); !asked {
		return found
	}
	c := f.census()
	switch slack := c.slack(); {
	case slack > 0:
		return ok("%s may fail", plural(slack, "voter", "voters"))
	case c.voters <= 1:
		return []Finding{info(f.grow(3), "one member: every restart of it is an outage")}
	case c.voters == 2 && len(c.following) == 2:
		return []Finding{warning(f.grow(3), "of 2 voters none may fail")}
	case slack+len(c.unasked) > 0:
		return []Finding{{Level: Unknown, Message: list(pods(c.unasked)) + " could not be asked"}}
	case slack+len(c.unasked) == 0 && len(c.unasked) > 0:
		return []Finding{{Level: Unknown, Message: "at best none may fail; " + list(pods(c.unasked)) + " could not be asked"}}
	case slack == 0:
		return []Finding{failure(f.look(c.silent), "%d of %d voters are well and quorum is %d: the next failure stops all writes", len(c.following), c.voters, c.quorum())}
	}
	return []Finding{failure(f.look(c.silent), "quorum is lost already")}
}

// grow is scaleTo where pods and members are of one mind; else the checks of members say
// first who has no pod, and which pod is no member.
func (f *Facts) grow(n int) string {
	if f.Survey.Err == nil && f.Survey.Value.ListErr == nil && len(f.Survey.Value.List) > 0 && f.census().voters != f.size() {
		return f.cmd("check", "--only members")
	}
	return f.scaleTo(n)
}

// scaleTo is how a cluster gets so many members.
func (f *Facts) scaleTo(n int) string {
	if w := f.Owner.Membership(); f.Owner.Flavour != observe.Druid && w.Manager != flavour.Unmanaged {
		return w.ScaleHow
	}
	return f.cmd("scale", fmt.Sprintf("--replicas %d", n))
}

func oddSize(f *Facts) []Finding {
	n := f.size()
	if f.Survey.Err == nil && f.Survey.Value.ListErr == nil && len(f.Survey.Value.List) > 0 {
		n = f.census().voters
	}
	even := n > 0 && n%2 == 0
	switch {
	case n == 0:
		return notApplicable("the cluster has no members")
	case even && f.operation() != "":
		return []Finding{info("", "%d voters for now: %s", n, f.operation())}
	case n > 7:
		return []Finding{warning(f.grow(7), "%d voters: every write waits for %d of them", n, n/2+1)}
	case even:
		return []Finding{warning(f.grow(n+1), "%d voters tolerate no more failures than %d", n, n-1)}
	}
	return ok("%d", n)
}

func oneLeader(f *Facts) []Finding {
	if found, asked := f.asked(); !asked {
		return found
	}
	c := f.census()
	if c.leader == 0 {
		return []Finding{failure(f.look(c.silent), "no member knows a leader: nothing can be written")}
	}
	var found []Finding
	name := fmt.Sprintf("member %016x", c.leader)
	for _, m := range f.answering() {
		switch {
		case m.ID == c.leader:
			name = m.Pod
		case m.LeaderID == 0:
			found = append(found, failure(f.look([]etcd.Member{m}), "%s follows nobody: it is cut off from the others, or starts", m.Pod))
		case m.LeaderID != c.leader:
			found = append(found, warning(f.cmd("check", "--only Q004"), "%s follows %016x, most follow %016x: an election is under way, or the network is parted", m.Pod, m.LeaderID, c.leader))
		}
	}
	if len(found) > 0 {
		return found
	}
	return ok("%s leads", name)
}

func oneCluster(f *Facts) []Finding {
	if found, asked := f.asked(); !asked {
		return found
	}
	in := map[uint64][]string{}
	var ids []uint64
	for _, m := range f.answering() {
		if in[m.ClusterID] == nil {
			ids = append(ids, m.ClusterID)
		}
		in[m.ClusterID] = append(in[m.ClusterID], m.Pod)
	}
	if len(ids) == 1 {
		return ok("%016x", ids[0])
	}
	slices.SortFunc(ids, func(a, b uint64) int { return len(in[b]) - len(in[a]) })
	var parts []string
	for _, id := range ids {
		parts = append(parts, fmt.Sprintf("%s in %016x", list(in[id]), id))
	}
	return []Finding{failure(f.cmd("cut-client-traffic", "--for 1h --reason 'split brain'"), "split brain, %d clusters: %s", len(ids), strings.Join(parts, "; "))}
}

// The bounds of a lag, in raft entries. A member that lags by 1,000 is busy;
// from 5,000 on etcd refuses its requests with "too many requests" (etcd,
// server/etcdserver/v3_server.go, maxGapBetweenApplyAndCommitIndex), which is
// also how many entries a leader keeps for those that catch up (server.go,
// DefaultSnapshotCatchUpEntries).
const (
	lagging  = 1000
	leftBack = 5000
)

func raftLag(f *Facts) []Finding {
	if found, asked := f.asked(); !asked {
		return found
	}
	var first etcd.Member
	for _, m := range f.answering() {
		if m.RaftIndex > first.RaftIndex {
			first = m
		}
	}
	var found []Finding
	most := uint64(0)
	for _, m := range f.answering() {
		behind := first.RaftIndex - min(m.RaftApplied, first.RaftIndex)
		most = max(most, behind)
		if behind < lagging {
			continue
		}
		say := warning
		if behind >= leftBack {
			say = failure
		}
		found = append(found, say(f.cmd("check", "--only D009,W004"), "%s has applied %d of %d raft entries, %d behind %s", m.Pod, m.RaftApplied, first.RaftIndex, behind, first.Pod))
	}
	if len(found) > 0 {
		return found
	}
	return ok("at most %s behind", plural(int(most), "entry", "entries"))
}

// changesPerHour is how many changes of the leader in an hour are too many.
const changesPerHour = 3

func steadyLeader(f *Facts) []Finding {
	if found, asked := f.asked(); !asked {
		return found
	}
	var found []Finding
	judged := 0
	for _, m := range f.answering() {
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
			found = append(found, warning(f.cmd("check", "--only D009,W004"), "%s saw the leader change %.0f times in %s", m.Pod, changes, ago(up)))
		}
	}
	if len(found) == 0 && judged == 0 {
		return notApplicable("no member's metrics count changes of the leader")
	}
	return found
}
