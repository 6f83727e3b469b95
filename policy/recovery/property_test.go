// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

var statuses = []policy.Status{policy.Absent, policy.True, policy.False, policy.Unknown}

// letters are the kinds of members of cluster.
const letters = "vxwuloeLsyp"

// groups returns every set of up to n members of these kinds, in one order.
func groups(letters string, n int) []string {
	all := []string{""}
	for from, size := 0, 0; size < n; size++ {
		to := len(all)
		for _, g := range all[from:to] {
			for i, letter := range letters {
				if g == "" || i >= slices.Index([]byte(letters), g[len(g)-1]) {
					all = append(all, g+string(letter))
				}
			}
		}
		from = to
	}
	return all
}

// TestLattice compares the rows that hold with a naive second implementation in every state: all
// kinds of up to three members, conditions, sizes, with an operation and without.
func TestLattice(t *testing.T) {
	t.Parallel()
	states := 0
	for _, g := range groups(letters, 3) {
		for _, ready := range statuses {
			for _, all := range statuses {
				for _, backup := range statuses {
					for more := -1; more <= 1; more++ {
						for kind := range 16 {
							f := cluster(g, conditions(ready, all, backup), kindOf(kind), func(f *Facts) { f.Desired = max(f.Desired+more, 0) })
							compare(t, g, f)
							states++
						}
					}
				}
			}
		}
	}
	if states < 500_000 {
		t.Errorf("only %d states were tried", states)
	}
}

// kindOf sets the rest of the facts by four bits.
func kindOf(bits int) func(*Facts) {
	return func(f *Facts) {
		if bits&1 != 0 {
			withoutOperator(f)
			f.Managed = false
		}
		if bits&2 != 0 {
			f.Operation = "rollout"
			f.CutsTraffic = bits&1 != 0
			f.Interrupted = bits&9 == 9
		}
		if bits&4 != 0 {
			f.ListKnown = false
			for i := range f.Members {
				f.Members[i].Listed = ListUnread
			}
		}
		if bits&8 != 0 {
			f.Formed, f.Created = false, noon.Add(-time.Minute)
		}
		if bits&9 == 9 {
			f.Alarms = []string{"NOSPACE"}
		}
		if bits&9 == 8 {
			f.Misaddressed = []string{"main-0"}
		}
	}
}

func compare(t *testing.T, g string, f Facts) {
	t.Helper()
	s := count(f)
	var got []string
	for _, r := range rows {
		if r.holds(s) {
			got = append(got, r.id)
		}
	}
	want := naive(f)
	slices.Sort(want)
	sorted := slices.Sorted(slices.Values(got))
	if !slices.Equal(sorted, want) {
		t.Fatalf("%q, desired %d, %+v\nrows %v, the naive ones are %v", g, f.Desired, f, sorted, want)
	}
	if len(got) == 0 {
		t.Fatalf("%q %+v: no row holds", g, f)
	}
	if slices.Contains(got, "S-1") && len(got) > 1 {
		t.Fatalf("%q %+v: healthy, and also %v", g, f, got)
	}
}

// naive are the rows that hold, by counting letters and reading the page row by row.
//
//nolint:gocyclo // a second reading of the table, row by row
func naive(f Facts) []string {
	n, r, u, back, lateAsked, earlyAsked := 0, 0, 0, 0, 0, 0
	left, out, learn, odd := 0, 0, 0, 0
	behind, unknown, unready, again := false, false, false, false
	for _, m := range f.Members {
		stopped := m.Pod != PodReady && m.Pod != PodUnseen
		if f.Reporter != "" {
			behind = behind || m.Status != "" && (m.Lease == LeaseFresh && m.Status != StatusReady || m.Lease == LeaseExpired && m.Status == StatusReady && !stopped)
			unready = unready || m.Status == StatusReady && stopped
			unknown = unknown || m.Status == StatusUnknown && !m.StatusSince.IsZero() && f.At.Sub(m.StatusSince) >= time.Minute
		}
		if m.Pod == PodMissing && !m.Asked && (m.Listed == Voter || m.Listed == Learner || m.Lease != NoLease || m.Status != "") {
			left++
		}
		if m.Listed == NotListed {
			if m.Asked && m.Pod != PodMissing {
				out++
			}
			continue
		}
		if m.Listed == Learner {
			if m.Asked || m.Pod != PodMissing {
				learn++
			}
			continue
		}
		if f.ListKnown && m.Listed != Voter {
			continue
		}
		if !f.ListKnown && !m.Asked && (m.Pod == PodMissing || m.Pod == PodUnseen) && m.Answer == NotAsked {
			continue
		}
		n++
		if m.Answer == Unreachable {
			if m.Lease != LeaseFresh && (m.Pod == PodReady || m.Pod == PodUnseen) {
				u++
				continue
			}
			m.Answer = NotAsked
		}
		switch {
		case m.Answer == Follows, m.Answer == NotAsked && m.Pod == PodReady && m.Lease != LeaseExpired && m.Lease != LeaseNever:
			r++
			if m.Pod != PodReady && m.Pod != PodMissing && m.Pod != PodUnseen {
				odd++
			}
		case m.Answer == NotAsked && m.Pod == PodUnseen && (m.Lease == NoLease || m.Lease == LeaseNever):
			u++
		case m.Answer == NotAsked && m.Pod == PodUnseen && m.Lease == LeaseFresh:
			r++
		default:
			again = again || m.Predates || m.OlderVolume
			limit := 5 * time.Minute
			if m.Answer != NoLeader && (m.Pod == PodReady || m.Pod == PodUnseen) {
				limit = 6 * time.Minute
			}
			over := m.Since.IsZero() || f.At.Sub(m.Since) >= limit
			gone := m.Data == DataNone || m.Data == DataDamaged
			back += one(!over && (!gone || f.Sidecar && f.Desired == 1 && f.Voters <= 1))
			if m.Asked {
				lateAsked, earlyAsked = lateAsked+one(over), earlyAsked+one(!over)
			}
		}
	}
	hidden := f.Voters - n
	n = max(n, f.Voters)
	away := f.Operation != "" && f.CutsTraffic && !f.Replaced
	for _, m := range f.Members {
		away = away && m.Pod == PodMissing
	}
	if f.Desired == 0 || away {
		switch {
		case f.Interrupted:
			return []string{"X-6"}
		case f.CutsTraffic && f.Operation != "":
			return []string{"X-10"}
		}
		return []string{"X-1"}
	}
	boot := !f.Formed && r == 0 && !f.Created.IsZero() && f.At.Sub(f.Created) < 5*time.Minute
	majority := func(k int) bool { return 2*k > n }
	lost := n > 0 && !majority(r+u) && !boot
	kept := majority(r)
	every := n > 0 && r == n
	quiet := f.Operation == ""
	ready, all, backup := f.Ready.Value(), f.AllMembersReady.Value(), f.BackupReady.Value()
	if f.Reporter == "" {
		ready, all = policy.Absent, policy.Absent
	}
	var ids []string
	add := func(id string, holds bool) {
		if holds {
			ids = append(ids, id)
		}
	}
	add("S-2", behind)
	add("S-3", every && all == policy.False)
	add("S-4", r+u < n && all == policy.True)
	add("S-5", kept && ready == policy.False)
	add("S-6", lost && ready == policy.True)
	add("S-7", unknown)
	add("S-8", unready)
	add("S-9", kept && lateAsked > 0 && !again)
	add("S-10", lost && !majority(r+u+back))
	add("S-11", every && f.Desired > n)
	add("S-12", every && f.Desired < n)
	add("S-13", left > 0 && quiet)
	add("X-2", f.Clusters > 1)
	add("X-3", lost && majority(r+u+back))
	add("X-4", u > 0 || kept && hidden > 0 || n == 0 && !boot)
	add("X-5", boot)
	add("X-6", f.Interrupted)
	add("X-7", kept && earlyAsked > 0 && !again)
	add("X-18", kept && again)
	add("X-19", len(f.Alarms) > 0)
	add("X-20", len(f.Misaddressed) > 0 && kept && quiet)
	add("X-8", out > 0 && (quiet || f.HeldRollout && !f.Interrupted))
	add("X-9", learn > 0 && quiet)
	add("X-10", !quiet && !f.Interrupted)
	add("X-11", f.ListKnown && f.Desired != n && !every)
	add("X-12", backup == policy.False)
	add("X-13", odd > 0)
	add("X-14", f.TrafficCut)
	add("X-15", f.Reporter != "" && (ready == policy.Unknown || all == policy.Unknown))
	add("X-17", every && n == f.Desired && (f.Replicas != n || f.ReadyPods != n && odd == 0))
	add("X-21", quiet && f.Reporter != "" && f.Unreconciled && f.Suspended && !f.SuspendedByCut)
	add("X-16", backup == policy.Unknown)
	if len(ids) == 0 && every && n == f.Desired && f.ReadyPods == f.Replicas && f.Replicas == n {
		ids = append(ids, "S-1")
	}
	return ids
}

// TestSafe tries random facts. There is always a scenario, the same one each time, and what removes
// or deletes anything is only advised on the evidence that it needs.
//
//nolint:gocyclo // one condition a promise
func TestSafe(t *testing.T) {
	t.Parallel()
	random := policytest.Seed(t)
	pick := func(n int) int { return random.IntN(n) }
	for range 20_000 {
		f := Facts{
			At: noon, Reporter: []string{"", "etcd-druid"}[pick(2)], HealsNothing: pick(2) == 0, Sidecar: pick(2) == 0, Managed: pick(2) == 0, Desired: pick(6), Voters: pick(6), ListKnown: pick(2) == 0, Replicas: pick(6), ReadyPods: pick(6),
			Ready: is(statuses[pick(4)]), AllMembersReady: is(statuses[pick(4)]), BackupReady: is(statuses[pick(4)]), Store: pick(2) == 0,
			Clusters: pick(3), Formed: pick(2) == 0, Interrupted: pick(9) == 0, TrafficCut: pick(9) == 0, ScaledIn: pick(9) == 0, AwayGone: pick(3),
			Unreconciled: pick(2) == 0, Suspended: pick(3) == 0, SuspendedByCut: pick(9) == 0, Requested: pick(3) == 0,
		}
		if pick(3) == 0 || f.Interrupted {
			f.Operation = "rollout"
		}
		f.HeldRollout = f.Operation != "" && pick(2) == 0
		if pick(9) == 0 {
			f.Misaddressed = []string{"m0"}
		}
		for i := range pick(6) {
			m := Member{
				Name: fmt.Sprint("m", i), Asked: pick(3) > 0, First: i == 0, Pod: []Pod{PodUnseen, PodMissing, PodPending, PodWaiting, PodStopping, PodUnready, PodReady}[pick(7)],
				Answer: []Answer{NotAsked, Unreachable, Silent, NoLeader, Follows}[pick(5)], Lease: []Lease{NoLease, LeaseFresh, LeaseExpired, LeaseNever}[pick(4)],
				Status: []Status{StatusNone, StatusReady, StatusNotReady, StatusUnknown}[pick(4)], Data: []Data{DataUnread, DataValid, DataInPod, DataLeaving, DataDamaged, DataNone}[pick(6)],
				MayRemove: pick(2) == 0, Removable: pick(2) == 0, Returns: pick(9) == 0, CaughtUp: pick(2) == 0, Restarts: pick(2) == 0, OutOfContact: pick(2) == 0, Predates: pick(9) == 0, OlderVolume: pick(9) == 0, Ahead: pick(9) == 0,
				SidecarWaits: pick(9) == 0,
			}
			if m.Data == DataDamaged && m.Answer != NotAsked { // only the log of a member that doesn't answer is read
				m.Answer = Silent
			}
			if f.ListKnown {
				m.Listed = []Listed{Voter, Voter, Learner, NotListed}[pick(4)]
			}
			if pick(3) > 0 {
				m.Since = noon.Add(-time.Duration(pick(10)) * time.Minute)
			}
			f.Members = append(f.Members, m)
		}
		d := Diagnose(f)
		if !reflect.DeepEqual(d, Diagnose(f)) {
			t.Fatalf("%+v: two diagnoses differ", f)
		}
		for _, s := range d.Scenarios {
			if why := unsafe(f, s); why != "" || s.Title == "" || s.Action.Do == "" || s.Action.Why == "" {
				t.Fatalf("%+v\n%s %q advises %+v: %s", f, s.ID, s.Title, s.Action, why)
			}
		}
		for _, r := range d.Restarts {
			if r.ID == "" || r.What == "" {
				t.Fatalf("%+v: nothing is known of %s", f, r.Member)
			}
		}
	}
}

// unsafe is why an action must not be advised, empty if it may.
//
//nolint:gocyclo // one case an action
func unsafe(f Facts, s Scenario) string {
	s2 := count(f)
	i := slices.IndexFunc(f.Members, func(m Member) bool { return m.Name == s.Action.Member })
	changes := slices.Contains([]Do{RestartPod, Replace, RemoveMember, DeleteLease, CorrectPeerURL}, s.Action.Do)
	switch {
	case s.Action.Do == ListSnapshots && slices.ContainsFunc(f.Members, func(m Member) bool { return f.counts(m) && (!m.lost() || answers(m)) }):
		return "a member may have all data"
	case s.Action.Do == Recover:
		return refusedRecovery(f, s.Action.Lost)
	case !changes:
		return ""
	case f.Clusters > 1:
		return "the members belong to several clusters"
	case s2.kept() && slices.ContainsFunc(f.Members, func(m Member) bool { return (m.Predates || m.OlderVolume) && f.counts(m) && m.Answer == Silent }):
		return "a member may have the only data"
	case s.Action.Do == CorrectPeerURL && s2.kept():
		return ""
	case i < 0:
		return "no member is named"
	case s.Action.Do != DeleteLease && s.Action.Do != RemoveMember && !s2.kept():
		return "there is no quorum"
	}
	m := f.Members[i]
	switch {
	case m.Answer == Follows && m.Listed == Voter:
		return "the member is well"
	case s.Action.Do == RestartPod && (m.Data != DataValid || f.Operation != "" || !m.Restarts):
		return "the data may go with the pod, an operation is under way, or restart refuses"
	case s.Action.Do == RestartPod && (m.Answer == NotAsked || !m.OutOfContact || !f.ListKnown):
		return "the member may be well"
	case s.Action.Do == Replace && m.Listed != NotListed && (!m.lost() || !m.MayRemove || f.TrafficCut):
		return "the data isn't known to be lost, or the rules refuse"
	case s.Action.Do == Replace && m.Listed == NotListed && m.Ahead:
		return "it may have the only data"
	case s.Action.Do == Replace && m.Listed == NotListed && f.Managed:
		return "another program manages the members"
	case s.Action.Do == RemoveMember && (!m.Removable || !m.MayRemove || m.Pod != PodMissing):
		return "the rules refuse"
	case s.Action.Do == DeleteLease && (!f.ListKnown || m.Listed != NotListed || m.Pod != PodMissing):
		return "the member may exist"
	}
	return ""
}

// refusedRecovery returns why recover refuses a command, empty if it does not. POD in it is each member whose loss only
// its log shows.
func refusedRecovery(f Facts, lost []string) string {
	var declared []string
	for _, m := range f.Members {
		logged := m.Data == DataDamaged && f.counts(m) && slices.Contains(lost, "POD")
		if slices.Contains(lost, m.Name) || logged {
			declared = append(declared, m.Name)
		}
	}
	if _, v := MayRecover(f, declared); !v.Allowed {
		return v.Message
	}
	return ""
}
