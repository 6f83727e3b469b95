// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// healthy returns a write for a cluster of voters that are all ready, with all their volumes.
func healthy(voters, now, asked int) Facts {
	return Facts{
		Target: "statefulset/main", Namespace: "team", Now: now, Asked: asked, Voters: voters,
		Keeping: min(asked, voters), Ready: min(now, voters), Staying: min(now, voters, asked), Held: voters,
	}
}

func with(f Facts, change func(*Facts)) Facts {
	change(&f)
	return f
}

// moved returns the same write with a first ordinal that is higher by as many.
func moved(f Facts, by int) Facts {
	f.Moved = true
	f.Keeping = max(0, min(f.Voters-by, f.Asked))
	f.Staying = min(f.Ready, f.Keeping)
	return f
}

// ofEtcd makes the write one of an Etcd, or of its workload.
func ofEtcd(f *Facts) {
	f.Adder, f.How = "etcd-druid", "restore a backup into a new Etcd of that size"
	f.Reconcile = "druid.gardener.cloud/operation=reconcile"
}

// spanning returns the same write for a cluster of several StatefulSets.
func spanning(f Facts) Facts {
	f.Sets, f.How = "a, b and main", "how to"
	if f.Now < f.Voters && f.Asked < f.Now {
		f.Stopped = []string{"b"}
	}
	return f
}

// beside returns the same write for a cluster of which another workload runs one voter.
func beside(f Facts) Facts {
	f.Others, f.Held = 1, f.Voters-1
	return f
}

// verdict is yes, warn or no.
func verdict(v policy.Verdict) string {
	switch {
	case !v.Allowed:
		return "no"
	case len(v.Notes) > 0:
		return "warn"
	}
	return "yes"
}

var scaleRows = []struct {
	row    string
	facts  Facts
	want   string
	reason policy.Reason
}{
	{"R-1 unchanged", healthy(3, 3, 3), "yes", ReplicasUnchanged},
	{"R-26 the claims of pods that stop", with(healthy(3, 0, 0), func(f *Facts) { f.Volumes, f.Stopping, f.Voters = Deleted, 3, 3 }), "no", VolumesDeleted},
	{"R-26 of some", with(healthy(5, 3, 3), func(f *Facts) { f.Now, f.Volumes, f.Stopping = 3, Deleted, 1 }), "no", VolumesDeleted},
	{"R-26 they have stopped", with(healthy(5, 3, 3), func(f *Facts) { f.Now, f.Volumes = 3, Deleted }), "yes", ReplicasUnchanged},
	{"R-26 they were removed from etcd", with(healthy(3, 3, 3), func(f *Facts) { f.Volumes, f.Stopping = Deleted, 2 }), "yes", ReplicasUnchanged},
	{"R-1 unchanged and even", healthy(2, 2, 2), "yes", ReplicasUnchanged},
	{"R-1 unchanged below the quorum", healthy(5, 2, 2), "yes", ReplicasUnchanged},
	{"R-2 follows its Etcd", with(healthy(3, 3, 1), func(f *Facts) { ofEtcd(f); f.Follows = true }), "yes", FollowsOwner},
	{"R-3 stop", healthy(3, 3, 0), "warn", AllStop},
	{"R-3 stop of one", healthy(1, 1, 0), "warn", AllStop},
	{"R-3 stop before any member was seen", healthy(0, 3, 0), "yes", AllStop},
	{"R-4 stop without claims", with(healthy(3, 3, 0), func(f *Facts) { f.Volumes = NoClaims }), "warn", AllStop},
	{"R-5 stop deletes", with(healthy(3, 3, 0), func(f *Facts) { f.Volumes = Deleted }), "no", VolumesDeleted},
	{"R-6 first start", healthy(0, 0, 1), "yes", NoData},
	{"R-6 all volumes were deleted", with(healthy(3, 0, 1), func(f *Facts) { f.Held = 0 }), "yes", NoData},
	{"R-7 all start", healthy(3, 0, 3), "yes", policy.QuorumKept},
	{"R-7 more start", healthy(3, 0, 5), "yes", policy.QuorumKept},
	{"R-8 a quorum starts", healthy(5, 0, 3), "warn", StartsTooFew},
	{"R-9 one of three starts", healthy(3, 0, 1), "no", StartsTooFew},
	{"R-9 two of five start", healthy(5, 0, 2), "no", StartsTooFew},
	{"R-10 one volume is left", with(healthy(3, 0, 1), func(f *Facts) { f.Held = 1 }), "warn", StartsTooFew},
	{"R-10 no claims", with(healthy(3, 0, 1), func(f *Facts) { f.Held, f.Volumes = 0, NoClaims }), "warn", StartsTooFew},
	{"R-10 an operator's", with(healthy(3, 0, 1), func(f *Facts) { f.Manager, f.How = "etcd-operator", "set spec.size" }), "warn", StartsTooFew},
	{"R-11 the others are no voters", healthy(3, 5, 3), "yes", policy.QuorumKept},
	{"R-12 three to one", healthy(3, 3, 1), "no", VotersLost},
	{"R-12 five to two", healthy(5, 5, 2), "no", VotersLost},
	{"R-12 two to one", healthy(2, 2, 1), "no", VotersLost},
	{"R-12 scaled in twice", healthy(5, 3, 2), "no", VotersLost},
	{"R-12 an Etcd", with(healthy(3, 3, 1), ofEtcd), "no", VotersLost},
	{"R-12 an operator's that removes none", with(healthy(3, 3, 1), func(f *Facts) { f.How = "how to" }), "no", VotersLost},
	{"R-9 an operator's that removes none", with(healthy(3, 0, 1), func(f *Facts) { f.How = "how to" }), "no", StartsTooFew},
	{"R-13 the ready ones go", with(healthy(5, 5, 3), func(f *Facts) { f.Ready, f.Staying = 3, 2 }), "no", VotersLost},
	{"R-14 five to three", healthy(5, 5, 3), "warn", VotersLeft},
	{"R-13 of those that may be ready", with(healthy(5, 5, 3), func(f *Facts) { f.Ready, f.Unsure, f.Staying = 4, 2, 2 }), "no", VotersLost},
	{"R-14 some that leave may be ready", with(healthy(5, 5, 3), func(f *Facts) { f.Unsure = 2 }), "warn", VotersLeft},
	{"R-14 the quorum is lost already", with(healthy(5, 5, 3), func(f *Facts) { f.Ready, f.Staying = 2, 1 }), "warn", VotersLeft},
	{"R-21 five to three without a record", with(healthy(5, 5, 3), func(f *Facts) { f.Unrecorded = true }), "no", VotersLeft},
	{"R-21 an Etcd without a record", with(healthy(5, 5, 3), func(f *Facts) { ofEtcd(f); f.Unrecorded = true }), "no", VotersLeft},
	{"R-21 a start of three of five without a record", with(healthy(5, 0, 3), func(f *Facts) { f.Unrecorded = true }), "no", StartsTooFew},
	{"R-21 created over five volumes without a record", with(healthy(5, 0, 3), func(f *Facts) { f.Unrecorded, f.Creates = true, true }), "no", StartsTooFew},
	{"R-21 created over five pods without a record", with(healthy(5, 5, 3), func(f *Facts) { f.Unrecorded, f.Creates = true, true }), "no", VotersLeft},
	{"R-21 a start of an Etcd without a record", with(healthy(5, 0, 3), func(f *Facts) { ofEtcd(f); f.Unrecorded = true }), "no", StartsTooFew},
	{"R-7 all start without a record", with(healthy(5, 0, 5), func(f *Facts) { f.Unrecorded = true }), "yes", policy.QuorumKept},
	{"R-10 a start of an operator's without a record", with(healthy(5, 0, 3), func(f *Facts) { f.Unrecorded, f.Manager, f.How = true, "etcd-operator", "set spec.size" }), "warn", StartsTooFew},
	{"R-10 two volumes are left without a record", with(healthy(5, 0, 3), func(f *Facts) { f.Unrecorded, f.Held = true, 2 }), "warn", StartsTooFew},
	{"R-20 a start without a record", with(spanning(healthy(5, 0, 3)), func(f *Facts) { f.Unrecorded = true }), "warn", StartsTooFew},
	{"R-19 a start of fewer, declared without a record", with(healthy(3, 0, 3), func(f *Facts) { f.Unrecorded, f.Declared = true, true }), "yes", VotersDeclared},
	{"R-24 five to three", with(healthy(5, 5, 3), func(f *Facts) { f.Volumes = Deleted }), "no", VolumesDeleted},
	{"R-24 an Etcd", with(healthy(5, 5, 3), func(f *Facts) { ofEtcd(f); f.Volumes = Deleted }), "no", VolumesDeleted},
	{"R-24 not recorded either", with(healthy(5, 5, 3), func(f *Facts) { f.Volumes, f.Unrecorded = Deleted, true }), "no", VolumesDeleted},
	{"R-24 one of several StatefulSets", with(spanning(healthy(3, 3, 2)), func(f *Facts) { f.Volumes = Deleted }), "no", VolumesDeleted},
	{"R-24 another first ordinal", with(moved(healthy(3, 3, 3), 1), func(f *Facts) { f.Volumes = Deleted }), "no", VolumesDeleted},
	{"R-12 its volumes are deleted, too", with(healthy(5, 5, 2), func(f *Facts) { f.Volumes = Deleted }), "no", VotersLost},
	{"R-11 the others are no voters, and their volumes are deleted", with(healthy(3, 5, 3), func(f *Facts) { f.Volumes = Deleted }), "yes", policy.QuorumKept},
	{"R-14 no volumes", with(healthy(5, 5, 3), func(f *Facts) { f.Volumes = NoClaims }), "warn", VotersLeft},
	{"R-15 an operator's, and its volumes are deleted", with(healthy(5, 5, 3), func(f *Facts) { f.Volumes, f.Manager, f.How = Deleted, "etcd-operator", "set spec.size" }), "warn", VotersLeft},
	{"R-15 a script's", with(healthy(5, 5, 1), func(f *Facts) { f.Manager, f.Script = "the preStop hook", true }), "warn", VotersLeft},
	{"R-24 a script's", with(healthy(5, 5, 1), func(f *Facts) { f.Volumes, f.Manager, f.Script = Deleted, "the preStop hook", true }), "no", VolumesDeleted},
	{"R-11 a script's, and the others are no voters", with(healthy(3, 5, 3), func(f *Facts) { f.Volumes, f.Manager, f.Script = Deleted, "the preStop hook", true }), "yes", policy.QuorumKept},
	{"R-19 declared, and its volumes are deleted", with(healthy(3, 5, 3), func(f *Facts) { f.Volumes, f.Declared = Deleted, true }), "yes", VotersDeclared},
	{"R-11 no voter goes without a record", with(healthy(3, 5, 3), func(f *Facts) { f.Unrecorded = true }), "yes", policy.QuorumKept},
	{"R-15 an operator's without a record", with(healthy(3, 3, 1), func(f *Facts) { f.Unrecorded, f.Manager, f.How = true, "etcd-operator", "set spec.size" }), "warn", VotersLeft},
	{"R-20 one of three without a record", with(spanning(healthy(3, 3, 2)), func(f *Facts) { f.Unrecorded = true }), "warn", VotersLeft},
	{"R-15 an operator's", with(healthy(3, 3, 1), func(f *Facts) { f.Manager, f.How = "etcd-operator", "set spec.size" }), "warn", VotersLeft},
	{"R-20 one of three", spanning(healthy(3, 3, 2)), "warn", VotersLeft},
	{"R-20 the second of three", spanning(healthy(3, 2, 1)), "no", VotersLost},
	{"R-20 a ready one beside one that is down", with(spanning(healthy(3, 3, 2)), func(f *Facts) { f.Ready, f.Staying = 2, 1 }), "no", VotersLost},
	{"R-25 a part of one", with(healthy(4, 1, 0), func(f *Facts) { f.Elsewhere = 3 }), "no", VotersLost},
	{"R-25 a part of one, declared", healthy(4, 1, 0), "warn", AllStop},
	{"R-25 a part of three of five", with(healthy(5, 3, 2), func(f *Facts) { f.Elsewhere = 2 }), "no", VotersLost},
	{"R-25 the last one of several StatefulSets", with(spanning(healthy(3, 1, 0)), func(f *Facts) { f.Elsewhere = 1 }), "no", VotersLost},
	{"R-25 an operator's", with(healthy(4, 1, 0), func(f *Facts) { f.Elsewhere, f.Manager, f.How = 3, "etcd-operator", "set spec.size" }), "warn", VotersLeft},
	{"R-20 the last one", spanning(healthy(3, 1, 0)), "warn", AllStop},
	{"R-20 the last one's volumes are deleted", with(spanning(healthy(3, 1, 0)), func(f *Facts) { f.Volumes = Deleted }), "no", VolumesDeleted},
	{"R-20 the first one starts", spanning(healthy(3, 0, 1)), "warn", StartsTooFew},
	{"R-20 the next one starts", spanning(healthy(3, 1, 2)), "yes", MoreReplicas},
	{"R-20 a new one", spanning(healthy(3, 3, 4)), "warn", MoreReplicas},
	{"R-20 declared", with(spanning(healthy(1, 2, 1)), func(f *Facts) { f.Declared = true }), "yes", VotersDeclared},
	{"R-19 declared", with(healthy(2, 3, 2), func(f *Facts) { f.Declared = true }), "yes", VotersDeclared},
	{"R-19 a start of fewer", with(healthy(1, 0, 1), func(f *Facts) { f.Declared = true }), "yes", VotersDeclared},
	{"R-19 declared with a new member", with(healthy(4, 3, 4), func(f *Facts) { f.Declared = true }), "yes", VotersDeclared},
	{"R-12 declared, and more voters than replicas", with(healthy(3, 3, 1), func(f *Facts) { f.Declared = true }), "no", VotersLost},
	{"R-5 declared", with(healthy(1, 3, 0), func(f *Facts) { f.Declared, f.Volumes = true, Deleted }), "no", VolumesDeleted},
	{"R-16 back to all", healthy(5, 3, 5), "yes", MoreReplicas},
	{"R-16 an Etcd grows", with(healthy(3, 3, 5), ofEtcd), "yes", MoreReplicas},
	{"R-30 more start than the only voter", healthy(1, 0, 3), "no", FormsCluster},
	{"R-30 more than half are new", healthy(3, 0, 7), "no", FormsCluster},
	{"R-30 the only voter is not ready", with(healthy(1, 1, 3), func(f *Facts) { f.Ready, f.Staying = 0, 0 }), "no", FormsCluster},
	{"R-30 it is not known to be ready", with(healthy(1, 1, 3), func(f *Facts) { f.Unsure = 1 }), "no", FormsCluster},
	{"R-30 the only voter is ready", healthy(1, 1, 3), "warn", MoreReplicas},
	{"R-30 half are new", with(healthy(1, 1, 2), func(f *Facts) { f.Ready, f.Staying = 0, 0 }), "warn", MoreReplicas},
	{"R-30 no data", with(healthy(1, 0, 3), func(f *Facts) { f.Held = 0 }), "yes", NoData},
	{"R-30 no claims", with(healthy(1, 0, 3), func(f *Facts) { f.Volumes = NoClaims }), "yes", policy.QuorumKept},
	{"R-30 etcd-druid adds them", with(healthy(1, 0, 3), ofEtcd), "yes", policy.QuorumKept},
	{"R-30 a script adds them", with(healthy(1, 0, 3), func(f *Facts) { f.Manager, f.Script = "a script", true }), "yes", policy.QuorumKept},
	{"R-17 a StatefulSet grows", healthy(3, 3, 5), "warn", MoreReplicas},
	{"R-22 another first ordinal, and a quorum stays", moved(healthy(3, 3, 3), 1), "warn", VotersLeft},
	{"R-22 a quorum goes", moved(healthy(3, 3, 3), 2), "no", VotersLost},
	{"R-22 none stays", moved(healthy(3, 3, 5), 3), "no", VotersLost},
	{"R-22 all stay", moved(healthy(3, 3, 5), 0), "yes", policy.QuorumKept},
	{"R-22 not recorded", with(moved(healthy(3, 3, 3), 1), func(f *Facts) { f.Unrecorded = true }), "no", VotersLeft},
	{"R-22 declared", with(moved(healthy(3, 3, 3), 3), func(f *Facts) { f.Declared = true }), "no", VotersLost},
	{"R-22 of a stopped cluster", with(moved(healthy(3, 0, 0), 1), func(f *Facts) { f.Keeping = 0 }), "no", StartsTooFew},
	{"R-22 of a cluster without data", with(moved(healthy(3, 0, 0), 1), func(f *Facts) { f.Keeping, f.Held = 0, 0 }), "yes", NoData},
	{"R-22 start at another ordinal", with(moved(healthy(3, 0, 3), 3), func(f *Facts) { f.Creates = true }), "no", StartsTooFew},
	{"R-23 old pods, fewer replicas", with(healthy(3, 3, 1), func(f *Facts) { f.Creates = true }), "no", VotersLost},
	{"R-23 old pods, a quorum", with(healthy(5, 5, 3), func(f *Facts) { f.Creates = true }), "warn", VotersLeft},
	{"R-23 old pods, all", with(healthy(3, 3, 3), func(f *Facts) { f.Creates = true }), "yes", ReplicasUnchanged},
	{"R-23 old volumes, fewer replicas", with(healthy(3, 0, 1), func(f *Facts) { f.Creates = true }), "no", StartsTooFew},
	{"R-23 old volumes, declared", with(healthy(1, 0, 1), func(f *Facts) { f.Creates, f.Declared = true, true }), "yes", VotersDeclared},
	{"R-27 a stop by another client", with(healthy(3, 3, 0), func(f *Facts) { f.Restarting = true }), "no", RestartInProgress},
	{"R-27 a start by another client", with(healthy(3, 0, 3), func(f *Facts) { f.Restarting = true }), "no", RestartInProgress},
	{"R-27 declared", with(healthy(5, 3, 5), func(f *Facts) { f.Restarting, f.Declared = true, true }), "no", RestartInProgress},
	{"R-1 unchanged during a restart", with(healthy(3, 3, 3), func(f *Facts) { f.Restarting = true }), "yes", ReplicasUnchanged},
	{"R-29 a start by another client", with(healthy(3, 0, 3), func(f *Facts) { f.Restoring = true }), "no", RestoreInProgress},
	{"R-29 fewer, and more", with(healthy(3, 3, 5), func(f *Facts) { f.Restoring = true }), "no", RestoreInProgress},
	{"R-29 a start without data", with(healthy(0, 0, 1), func(f *Facts) { f.Restoring = true }), "no", RestoreInProgress},
	{"R-29 declared", with(healthy(1, 0, 1), func(f *Facts) { f.Restoring, f.Declared = true, true }), "no", RestoreInProgress},
	{"R-29 of an owner that was judged", with(healthy(3, 0, 3), func(f *Facts) { f.Restoring, f.Follows = true, true }), "yes", FollowsOwner},
	{"R-28 the stop of a restart", with(healthy(3, 3, 0), func(f *Facts) { f.RestartStep = true }), "yes", RestartStep},
	{"R-5 the stop of a restart deletes", with(healthy(3, 3, 0), func(f *Facts) { f.RestartStep, f.Volumes = true, Deleted }), "no", VolumesDeleted},
	{"R-4 the stop of a restart without claims", with(healthy(3, 3, 0), func(f *Facts) { f.RestartStep, f.Volumes = true, NoClaims }), "warn", AllStop},
	{"R-25 the stop of a restart of a part", with(healthy(4, 1, 0), func(f *Facts) { f.RestartStep, f.Elsewhere = true, 3 }), "no", VotersLost},
	{"R-7 the start of a restart", with(healthy(3, 0, 3), func(f *Facts) { f.RestartStep = true }), "yes", policy.QuorumKept},
	{"R-9 a start of fewer", with(healthy(3, 0, 1), func(f *Facts) { f.RestartStep = true }), "no", StartsTooFew},
	{"R-18 even", with(healthy(3, 3, 4), ofEtcd), "warn", MoreReplicas},
}

func TestScale(t *testing.T) {
	t.Parallel()
	for _, row := range scaleRows {
		v := Evaluate(row.facts)
		if verdict(v) != row.want || v.Reason != row.reason {
			t.Errorf("%s: %s %s, want %s %s: %s", row.row, verdict(v), v.Reason, row.want, row.reason, v.Message)
		}
		even := slices.ContainsFunc(v.Notes, func(n policy.Note) bool { return n.Reason == EvenReplicas })
		if strings.HasPrefix(row.row, "R-18") && !even {
			t.Errorf("%s: %v", row.row, v.Notes)
		}
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		facts Facts
		want  string
	}{
		{healthy(3, 3, 1), "1 of 3 voters would keep a replica, quorum is 2; instead run: kubectl etcd scale statefulset/main -n team --replicas 1"},
		{healthy(3, 0, 1), "1 of 3 voters would start, quorum is 2; to start all, run: kubectl scale statefulset/main -n team --replicas 3"},
		{with(healthy(3, 3, 1), ofEtcd), "1 of 3 voters would keep a replica, quorum is 2; etcd-druid removes no members: restore a backup into a new Etcd of that size"},
		{with(healthy(5, 5, 3), func(f *Facts) { f.Ready, f.Staying = 3, 2 }), "2 of 5 voters would stay ready, quorum is 3; now 3 are ready; " +
			"first wait until all 5 voters are ready, or repair those that are not: kubectl etcd diagnose statefulset/main -n team shows how; then, run: kubectl etcd scale statefulset/main -n team --replicas 3; " +
			`if etcd has fewer voters, declare them with the replicas: kubectl patch statefulset/main -n team --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"3 at '$(date -u +%FT%TZ)'"}},"spec":{"replicas":3}}'`},
		{healthy(5, 5, 2), "2 of 5 voters would keep a replica, quorum is 3; instead use kubectl etcd scale statefulset/main -n team --replicas N, with an odd N up to 15"},
		{with(healthy(3, 3, 1), func(f *Facts) { f.How = "how to" }), "1 of 3 voters would keep a replica, quorum is 2; how to; if etcd has fewer voters, declare them with the replicas: " +
			`kubectl patch statefulset/main -n team --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"1 at '$(date -u +%FT%TZ)'"}},"spec":{"replicas":1}}'`},
		{with(healthy(5, 5, 3), func(f *Facts) { f.Unrecorded = true }), "3 of 5 voters would keep a replica, " +
			"and neither a disruption budget nor an annotation records the others, so the next write or eviction could take the quorum; instead run: kubectl etcd scale statefulset/main -n team --replicas 3"},
		{moved(healthy(3, 3, 3), 2), "1 of 3 voters would keep a replica, quorum is 2; leave spec.ordinals.start at 0, where the pods and volume claims of the members are"},
		{with(healthy(3, 3, 1), func(f *Facts) { f.Creates = true }), "1 of 3 voters would keep a replica, quorum is 2; create it with 3 replicas, then, once all are ready, use kubectl etcd scale statefulset/main -n team --replicas N"},
		{with(healthy(3, 0, 1), func(f *Facts) { f.Creates = true }), "1 of 3 voters would start, quorum is 2; create it with 3 replicas; if their data is not needed, delete their volume claims first; " +
			`if etcd has fewer voters, declare them in the manifest with the annotation kubectl-etcd.dev/size: "1 at TIME", with the current time, as in 2026-01-31T12:00:00Z`},
		{with(healthy(5, 0, 3), func(f *Facts) { f.Unrecorded, f.Creates = true, true }), "3 of 5 voters would start, and neither a disruption budget nor an annotation records the others, so the next write or eviction could take the quorum; " +
			"create it with 5 replicas; if their data is not needed, delete their volume claims first; " +
			`if etcd has fewer voters, declare them in the manifest with the annotation kubectl-etcd.dev/size: "3 at TIME", with the current time, as in 2026-01-31T12:00:00Z`},
		{with(healthy(5, 0, 3), func(f *Facts) { f.Unrecorded = true }), "3 of 5 voters would start, and neither a disruption budget nor an annotation records the others, so the next write or eviction could take the quorum; " +
			"to start all, run: kubectl scale statefulset/main -n team --replicas 5; if etcd has fewer voters, declare them with the replicas: " +
			`kubectl patch statefulset/main -n team --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"3 at '$(date -u +%FT%TZ)'"}},"spec":{"replicas":3}}'`},
		{with(healthy(5, 5, 3), func(f *Facts) { f.Volumes = Deleted }), "3 of 5 voters would keep a replica, and the StatefulSet deletes the volume claims of the others, so their data is lost while etcd still counts them; " +
			"instead run: kubectl etcd scale statefulset/main -n team --replicas 3; to keep the claims, set persistentVolumeClaimRetentionPolicy.whenScaled to Retain first"},
		{with(healthy(5, 4, 3), func(f *Facts) { f.Volumes = Deleted }), "3 of 5 voters would keep a replica, and the StatefulSet deletes the volume claims of the others, so their data is lost while etcd still counts them; " +
			"first bring the other voters back: kubectl scale statefulset/main -n team --replicas 5; then, once all are ready, use kubectl etcd scale statefulset/main -n team --replicas N; to keep the claims, set persistentVolumeClaimRetentionPolicy.whenScaled to Retain first"},
		{with(healthy(4, 1, 0), func(f *Facts) { f.Elsewhere = 3 }), "0 of 4 voters would keep a replica, quorum is 3; 3 of the 4 voters run elsewhere or not at all, were not asked, and count as down; kubectl etcd check statefulset/main -n team --only M001 asks etcd about them, and prints the command that removes each one that is dead; " +
			policy.CountElsewhere + "; then set N to the number of voters that etcd has, and " +
			`run: kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/size="N at $(date -u +%FT%TZ)"`},
		{with(beside(healthy(3, 2, 1)), func(f *Facts) { f.Elsewhere = 1 }), "1 of 3 voters would keep a replica, quorum is 2; 1 of the 3 voters run elsewhere or not at all, were not asked, and count as down; kubectl etcd check statefulset/main -n team --only M001 asks etcd about them, and prints the command that removes each one that is dead; " +
			policy.CountElsewhere + "; then set N to the number of voters that etcd has, and " +
			`run: kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/size="N at $(date -u +%FT%TZ)"`},
		{beside(healthy(3, 2, 1)), "1 of 3 voters would keep a replica, quorum is 2; its lists name 1 member that no StatefulSet of the cluster has; " +
			"instead use kubectl etcd scale statefulset/main -n team --replicas N: if other workloads run them, it prints how members are added and removed"},
		{beside(healthy(5, 2, 1)), "1 of 5 voters would keep a replica, quorum is 3; first bring the other voters back: kubectl scale statefulset/main -n team --replicas 4; then, once all are ready, use kubectl etcd scale statefulset/main -n team --replicas N"},
		{beside(healthy(3, 0, 1)), "1 of 3 voters would start, quorum is 2; to start all that have a replica here, run: kubectl scale statefulset/main -n team --replicas 2; the others start with their own workloads"},
		{with(beside(healthy(3, 0, 1)), func(f *Facts) { f.Held = 3 }), "1 of 3 voters would start, quorum is 2; to start all, run: kubectl scale statefulset/main -n team --replicas 3"},
		{with(beside(healthy(3, 2, 1)), func(f *Facts) { f.Creates, f.Held = true, 0 }), "1 of 3 voters would keep a replica, quorum is 2; create it with 2 replicas, then, once all are ready, use kubectl etcd scale statefulset/main -n team --replicas N"},
		{spanning(healthy(3, 3, 1)), "1 of 3 voters would keep a replica, quorum is 2; remove one member at a time, so remove one replica at a time: how to"},
		{spanning(healthy(3, 2, 1)), "1 of 3 voters would keep a replica, quorum is 2; first start the other voters again, with N as before: kubectl scale statefulset/b -n team --replicas N; " +
			"if etcd has only N voters, run: kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/size=\"N at $(date -u +%FT%TZ)\"; then, how to"},
		{healthy(5, 3, 1), "1 of 5 voters would keep a replica, quorum is 3; first bring the other voters back: kubectl scale statefulset/main -n team --replicas 5; then, once all are ready, use kubectl etcd scale statefulset/main -n team --replicas N"},
	} {
		if v := Evaluate(row.facts); v.Allowed || v.Message != row.want {
			t.Errorf("%+v:\n got %s\nwant %s", row.facts, v.Message, row.want)
		}
	}
}

// TestRestoreInProgress: the refusal has the ways as they are typed.
func TestRestoreInProgress(t *testing.T) {
	t.Parallel()
	f := healthy(3, 0, 3)
	f.Target, f.Namespace, f.Restoring, f.Marked = "statefulset/main", "team", true, "main"
	const want = "a restore has marked StatefulSet main; continue it: kubectl etcd status statefulset/main -n team shows the command with its snapshot; " +
		"or end it: kubectl etcd snapshot restore statefulset/main -n team --abort; " +
		"if that finds no restore to end, remove the mark: kubectl annotate statefulset main -n team kubectl-etcd.dev/restore-"
	if v := Evaluate(f); v.Message != want {
		t.Errorf("the message is %q, want %q", v.Message, want)
	}
}

// TestRestartInProgress: the refusal names the marked StatefulSet, and first how the restart is ended,
// which stops no member.
func TestRestartInProgress(t *testing.T) {
	t.Parallel()
	f := healthy(3, 3, 0)
	f.Target, f.Namespace, f.Restarting, f.Marked = "etcd/main", "team", true, "main-set"
	const want = "a coordinated restart has marked StatefulSet main-set; end it: kubectl etcd restart etcd/main -n team --abort; " +
		"if that finds no restart to end, remove the mark: kubectl annotate statefulset main-set -n team kubectl-etcd.dev/restart-; " +
		"or continue it: kubectl etcd restart etcd/main -n team --strategy coordinated"
	if v := Evaluate(f); v.Message != want {
		t.Errorf("the message is %q, want %q", v.Message, want)
	}
}
