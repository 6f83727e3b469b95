// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

const (
	holdLimit = time.Hour
	settle    = time.Minute
)

var settings = Settings{HoldLimit: holdLimit, Settle: settle}

// of returns the facts of a cluster of one held StatefulSet. members are written as
// policytest.Kinds; templates has a letter for each: n for the newest template, f if it can't start
// with it, o for an older one, and as capitals if the pod is being deleted, - for a pod that doesn't
// exist. A pod that is not Ready has not been for outageLimit, and its containers have run for as long.
func of(members, templates string, partition int) Facts {
	f := Facts{Cluster: policytest.ClusterOf(members), Confirmed: true}
	set := Set{Name: "main", Held: true, Observed: true, Value: Value{Partition: partition}}
	for i, letter := range templates {
		p := Pod{Member: f.Cluster.Members[i], Updated: letter == 'n' || letter == 'N', Going: letter == 'N' || letter == 'O'}
		p.Updated, p.Failing = p.Updated || letter == 'f', letter == 'f'
		p.Exists = letter != '-'
		if p.absent() {
			p.Ready, p.PodReady = false, false
		}
		if !p.PodReady {
			p.NotReadyFor = outageLimit
		}
		p.StartedFor = outageLimit
		f.Cluster.Members[i] = p.Member
		set.Pods = append(set.Pods, p)
	}
	f.Sets = []Set{set}
	return f
}

func with(f Facts, changes ...func(*Facts)) Facts {
	for _, change := range changes {
		change(&f)
	}
	return f
}

// below has the author's partition keep the pods of lower ordinals.
func below(partition int) func(*Facts) { return func(f *Facts) { f.Sets[0].Author = partition } }

func onDelete(f *Facts) { f.Sets[0].Value = Value{OnDelete: true} }

func late(f *Facts) { f.Since = holdLimit }

// unguardedFor has no policy hold the rollout.
func unguardedFor(d time.Duration) func(*Facts) {
	return func(f *Facts) { f.Unguarded, f.UnguardedFor = true, d }
}

func since(d time.Duration) func(*Facts) { return func(f *Facts) { f.Since = d } }

func missingFor(d time.Duration) func(*Facts) {
	return func(f *Facts) {
		for i := range f.Sets[0].Pods {
			if p := &f.Sets[0].Pods[i]; p.missing() {
				p.MissingFor = d
			}
		}
	}
}

// unknown is set where it is not known which other members there are.
func unknown(f *Facts) { f.Cluster.SizeUnknown = "Secret tuning is not read" }

// several has the author's strategy restart several pods at once.
func several(f *Facts) { f.Sets[0].Several = true }

func inOrder(f *Facts) { f.Sets[0].Ordered = true }

// justNow changes all pods that are not Ready to have been Ready a moment ago.
func justNow(f *Facts) {
	for i := range f.Sets[0].Pods {
		f.Sets[0].Pods[i].NotReadyFor = 0
	}
}

// waited has all pods with the newest template wait for outageLimit until their containers first ran just now.
func waited(f *Facts) {
	for i := range f.Sets[0].Pods {
		if p := &f.Sets[0].Pods[i]; p.Updated {
			p.StartedFor = 0
		}
	}
}

// dataEnds has the data of all pods that are not Ready end with them.
func dataEnds(f *Facts) {
	for i := range f.Sets[0].Pods {
		p := &f.Sets[0].Pods[i]
		p.DataEnds = p.Exists && !p.PodReady
	}
}

// peersMove has all pods listen for peers on another scheme than with the newest template.
func peersMove(f *Facts) {
	for i := range f.Sets[0].Pods {
		f.Sets[0].Pods[i].PeersMove = true
	}
}

// young has pods be Ready for a shorter time than minReadySeconds. All members of the cluster count as ready.
func young(pods ...int) func(*Facts) {
	return func(f *Facts) {
		for _, i := range pods {
			f.Sets[0].Pods[i].PodReady, f.Sets[0].Pods[i].Young = false, true
		}
	}
}

// justReady has a member, whose pod is Ready, not count as ready for a short time.
func justReady(pod int) func(*Facts) {
	return func(f *Facts) {
		f.Cluster.Members[pod].Ready, f.Cluster.Members[pod].JustReady = false, true
		f.Sets[0].Pods[pod].Member, f.Sets[0].Pods[pod].Young = f.Cluster.Members[pod], true
	}
}

func backupsFail(f *Facts) { f.Cluster.BackupReady.Status = policy.False }

// text writes a step as in the table.
func text(s Step) string {
	v := s.Values[0]
	out := string(s.Act)
	if s.Act == Hold {
		out = "Hold"
	}
	if s.Pod != "" {
		out += " " + s.Pod
	}
	if s.Delete {
		out += " now"
	}
	if v.OnDelete {
		return out + ", OnDelete"
	}
	return fmt.Sprintf("%s, partition %d", out, v.Partition)
}

var rolloutRows = []struct {
	row    string
	facts  Facts
	want   string
	reason policy.Reason
}{
	{"O-1 all new", of("vvv", "nnn", 0), "Release, partition 0", Complete},
	{"O-1 the last one is not ready", of("xvv", "nnn", 0), "Release, partition 0", Complete},
	{"O-1 the author's partition", with(of("vvv", "oon", 2), func(f *Facts) { f.Sets[0].Author = 2 }), "Release, partition 2", Complete},
	{"O-23 all are well", with(of("vvv", "ooo", 3), peersMove), "Hold, partition 3", PeersMove},
	{"O-23 one is released", with(of("vvv", "ooo", 2), peersMove), "Hold, partition 3", PeersMove},
	{"O-23 one is down", with(of("vvx", "ooo", 3), peersMove), "Hold, partition 3", PeersMove},
	{"O-23 also after the hold limit", with(with(of("vvp", "ooo", 3), peersMove), late), "Hold, partition 3", PeersMove},
	{"O-9 the template from before, of one that is down", with(of("vvx", "nno", 3), peersMove), "Restart main-2, partition 2", policy.CuresMember},
	{"O-23 other members are not known", with(with(of("v", "o", 1), peersMove), func(f *Facts) { unknown(f); late(f) }), "Hold, partition 1", PeersMove},
	{"O-1 all listen as in the template", with(of("vvv", "nnn", 0), peersMove), "Release, partition 0", Complete},
	{"O-2 by hand, and the peers move", with(with(of("vvv", "ooo", 3), peersMove), func(f *Facts) { f.Reason = "known" }), "Release, partition 0", ReleasedByHand},
	{"O-10 no quorum, and the peers move", with(of("xxx", "ooo", 3), peersMove), "Restart main-2, partition 2", policy.CuresMember},
	{"O-2 by hand", with(of("vvx", "ooo", 3), func(f *Facts) { f.Reason = "the incident of Monday" }), "Release, partition 0", ReleasedByHand},
	{"O-3 one member", of("v", "o", 1), "Release, partition 0", OneMember},
	{"O-16 one member is known", with(of("v", "o", 1), unknown), "Hold, partition 1", policy.SizeUnknown},
	{"O-16 it is down", with(of("x", "o", 1), unknown), "Hold, partition 1", policy.SizeUnknown},
	{"O-16 for long", with(with(of("v", "o", 1), unknown), late), "Release, partition 0", HoldLimitPassed},
	{"O-4 one member is known, cut", with(with(of("v", "o", 1), unknown), func(f *Facts) { f.Cluster.TrafficCut = true }), "Hold, partition 1", policy.ClientTrafficCut},
	{"O-4 cut", with(of("vvv", "ooo", 3), func(f *Facts) { f.Cluster.TrafficCut = true }), "Hold, partition 3", policy.ClientTrafficCut},
	{"O-4 cut, and one is down", with(of("vvx", "ooo", 3), func(f *Facts) { f.Cluster.TrafficCut = true }), "Hold, partition 3", policy.ClientTrafficCut},
	{"O-14 by hand, without a policy", with(with(of("vvx", "ooo", 3), unguardedFor(0)), func(f *Facts) { f.Reason = "the incident of Monday" }), "Release, partition 0", ReleasedByHand},
	{"O-14 one member, without a policy", with(of("v", "o", 1), unguardedFor(0)), "Release, partition 0", OneMember},
	{"O-14 all new, without a policy", with(of("vvv", "nnn", 0), unguardedFor(0)), "Release, partition 0", Complete},
	{"O-14 for the settle time", with(of("pvv", "ooo", 3), unguardedFor(settle)), "Release, partition 0", GuardEnded},
	{"O-14 the author's partition", with(with(of("vvv", "ooo", 3), unguardedFor(settle)), func(f *Facts) { f.Sets[0].Author = 2 }), "Release, partition 2", GuardEnded},
	{"O-14 and one is missing", with(of("vvv", "-oo", 3), unguardedFor(settle)), "Release, partition 0", GuardEnded},
	{"O-14 not observed", with(with(of("vvv", "ooo", 3), unguardedFor(settle)), func(f *Facts) { f.Sets[0].Observed = false }), "Release, partition 0", GuardEnded},
	{"O-27 several pods at once", with(of("vvv", "ooo", 3), several), "Next main-2, partition 2", policy.AllReady},
	{"O-27 the last pod", with(of("vvv", "onn", 1), several), "Next main-0, partition 0", policy.AllReady},
	{"O-15 well", with(of("vvv", "ooo", 3), unguardedFor(settle-1)), "Hold, partition 3", Unguarded},
	{"O-15 one was released", with(of("vvv", "ooo", 2), unguardedFor(0)), "Hold, partition 3", Unguarded},
	{"O-15 one is down", with(of("vvx", "ooo", 3), unguardedFor(0)), "Hold, partition 3", Unguarded},
	{"O-15 by OnDelete", with(with(of("xvv", "ooo", 0), onDelete), unguardedFor(0)), "Hold, partition 3", Unguarded},
	{"O-15 by OnDelete, and it is being created again", with(with(of("vvv", "-oo", 0), onDelete), unguardedFor(0)), "Hold, OnDelete", PodAbsent},
	{"O-15 not observed", with(with(of("vvv", "nnn", 3), unguardedFor(0)), func(f *Facts) { f.Sets[0].Observed = false }), "Hold, partition 3", NotObserved},
	{"O-15 for the hold limit", with(with(of("vvv", "ooo", 3), unguardedFor(0)), late), "Hold, partition 3", Unguarded},
	{"O-5 leases", with(of("vvv", "ooo", 3), func(f *Facts) { f.Confirmed = false }), "Hold, partition 3", Unconfirmed},
	{"O-5 not observed", with(of("vvv", "ooo", 3), func(f *Facts) { f.Sets[0].Observed = false }), "Hold, partition 3", NotObserved},
	{"O-5 not observed, and all seem new", with(of("vvv", "nnn", 3), func(f *Facts) { f.Sets[0].Observed = false }), "Hold, partition 3", NotObserved},
	{"O-6 evicted", with(of("vvv", "ooo", 3), func(f *Facts) { f.Leaving = []string{"main-0"} }), "Hold, partition 3", PodLeaving},
	{"O-5 not observed, and one was released", with(of("vvv", "ooo", 2), func(f *Facts) { f.Sets[0].Observed = false }), "Hold, partition 2", NotObserved},
	{"O-5 not observed for long, and one was released", with(with(of("vvv", "ooo", 2), func(f *Facts) { f.Sets[0].Observed = false }), since(releaseLimit)), "Hold, partition 3", NotObserved},
	{"O-5 not observed for long, OnDelete", with(with(with(of("xvv", "ooo", 0), onDelete), func(f *Facts) { f.Sets[0].Observed = false }), since(releaseLimit)), "Hold, OnDelete", NotObserved},
	{"O-6 another one is evicted", with(of("vvv", "ooo", 2), func(f *Facts) { f.Leaving = []string{"main-0", "main-2"} }), "Hold, partition 3", PodLeaving},
	{"O-11 recorded as it was released", with(of("vvv", "ooo", 2), func(f *Facts) { f.Leaving = []string{"main-2"} }), "Next main-2, partition 2", policy.AllReady},
	{"O-6 going", of("vvv", "ooO", 2), "Hold, partition 2", PodAbsent},
	{"O-6 missing", of("vvv", "oo-", 2), "Hold, partition 2", PodAbsent},
	{"O-6 another one is missing", of("vvv", "-oo", 2), "Hold, partition 3", PodAbsent},
	{"O-6 OnDelete", with(of("vvv", "-oo", 0), onDelete), "Hold, OnDelete", PodAbsent},
	{"O-6 missing, and the rollout is held for long", with(of("vvv", "oo-", 3), late), "Hold, partition 3", PodAbsent},
	{"O-6 missing, and can't be created", with(of("vvv", "oo-", 3), missingFor(createLimit)), "Restart main-2, partition 2", policy.CuresMember},
	{"O-6 another one can't be created", with(of("vvv", "-oo", 3), missingFor(createLimit)), "Restart main-0, OnDelete", policy.CuresMember},
	{"O-6 it can't be created with the new template either", with(with(of("vvv", "-oo", 0), onDelete), missingFor(createLimit)), "Hold, OnDelete", PodAbsent},
	{"O-6 the released one can't be created", with(of("vvv", "oo-", 2), missingFor(createLimit)), "Hold, partition 2", PodAbsent},
	{"O-6 it can't be created, and another one is deleted", with(of("vvv", "-oO", 3), missingFor(createLimit)), "Hold, partition 3", PodAbsent},
	{"O-8 and another one can't be created", with(of("vvx", "-on", 2), missingFor(createLimit)), "Hold, partition 2", UpdatedNotReady},
	{"O-6 missing since the lowest is down, in order", with(of("xvv", "o--", 3), inOrder), "Restart main-0, partition 0", policy.CuresMember},
	{"O-6 missing since the middle is down, in order", with(of("vxv", "oo-", 3), inOrder), "Restart main-1, partition 1", policy.CuresMember},
	{"O-6 missing, in order", with(of("vvv", "oo-", 3), inOrder), "Hold, partition 3", PodAbsent},
	{"O-7 stale", with(of("mmm", "ooo", 3), func(f *Facts) { f.Cluster.Stale = true }), "Hold, partition 3", policy.FactsStale},
	{"O-7 stale for long", with(of("pxx", "ooo", 3), func(f *Facts) { f.Cluster.Stale, f.Since = true, holdLimit }), "Restart main-2, partition 2", policy.CuresMember},
	{"O-8 starts", of("vvx", "oon", 2), "Hold, partition 2", UpdatedNotReady},
	{"O-8 no limit", with(of("vvx", "oon", 2), late), "Hold, partition 2", UpdatedNotReady},
	{"O-8 five, for long", with(of("vvvvx", "oooon", 4), late), "Hold, partition 4", UpdatedNotReady},
	{"O-8 and another one is down", of("xvvvx", "oooon", 4), "Hold, partition 4", UpdatedNotReady},
	{"O-8 and both orders", with(of("xxx", "oon", 2), func(f *Facts) { f.Sets[0].Ordered = true }), "Hold, partition 2", UpdatedNotReady},
	{"O-8 after OnDelete", with(of("xvv", "noo", 0), onDelete), "Hold, partition 3", UpdatedNotReady},
	{"O-9 the highest", of("vvx", "ooo", 3), "Restart main-2, partition 2", policy.CuresMember},
	{"O-9 the highest, held by no more", of("vvx", "ooo", 2), "Restart main-2 now, partition 2", policy.CuresMember},
	{"O-9 another", of("xvv", "ooo", 3), "Restart main-0, OnDelete", policy.CuresMember},
	{"O-9 another, held by OnDelete", with(of("xvv", "ooo", 0), onDelete), "Restart main-0 now, OnDelete", policy.CuresMember},
	{"O-9 two of five", of("xvxvv", "ooooo", 5), "Restart main-2, OnDelete", policy.CuresMember},
	{"O-9 in order", with(of("xvxvv", "ooooo", 5), func(f *Facts) { f.Sets[0].Ordered = true }), "Restart main-0, OnDelete", policy.CuresMember},
	{"O-9 hangs", of("pvv", "ooo", 3), "Restart main-0, OnDelete", policy.CuresMember},
	{"O-9 hangs, held by OnDelete", with(of("pvv", "ooo", 0), onDelete), "Restart main-0 now, OnDelete", policy.CuresMember},
	{"O-9 hangs, and is recorded as one that leaves", with(of("pvv", "ooo", 0), onDelete, func(f *Facts) { f.Leaving = []string{"main-0"} }), "Restart main-0 now, OnDelete", policy.CuresMember},
	{"O-9 hangs, and another one leaves", with(of("pvv", "ooo", 0), onDelete, func(f *Facts) { f.Leaving = []string{"main-1"} }), "Hold, partition 3", PodLeaving},
	{"O-9 the highest hangs", of("vvp", "ooo", 3), "Restart main-2, partition 2", policy.CuresMember},
	{"O-9 another one was released, and then one hangs", of("pvv", "ooo", 2), "Restart main-0, OnDelete", policy.CuresMember},
	{"O-9 hangs, in order", with(of("vpv", "ooo", 3), inOrder), "Restart main-1, OnDelete", policy.CuresMember},
	{"O-9 hangs, and the template is newer than that of another one", of("vvp", "noo", 3), "Restart main-2, partition 2", policy.CuresMember},
	{"O-9 only the pod is not ready", of("mvv", "ooo", 3), "Restart main-0, OnDelete", policy.CuresMember},
	{"O-9 two of five hang", of("pvvvp", "ooooo", 5), "Restart main-4, partition 4", policy.CuresMember},
	{"O-9 one of five hangs, and one is down", of("vxvvp", "ooooo", 5), "Restart main-1, OnDelete", policy.CuresMember},
	{"O-9 hangs, and backups fail", with(of("pvv", "ooo", 3), func(f *Facts) { f.Cluster.BackupReady.Status = policy.False }), "Restart main-0, OnDelete", policy.CuresMember},
	{"O-5 hangs, and an answer is awaited", with(of("pvv", "ooo", 3), func(f *Facts) { f.Confirmed = false }), "Hold, partition 3", Unconfirmed},
	{"O-8 and another one hangs", of("pvvvx", "oooon", 4), "Hold, partition 4", UpdatedNotReady},
	{"O-8 it hangs with the new template", of("vvp", "oon", 2), "Hold, partition 2", UpdatedNotReady},
	{"O-9 the template from before, of one that hangs", with(of("vvp", "nno", 3), peersMove), "Restart main-2, partition 2", policy.CuresMember},
	{"O-9 the template before it", of("vvx", "nno", 3), "Restart main-2, partition 2", policy.CuresMember},
	{"O-10 no quorum", of("xxx", "oon", 2), "Restart main-1, partition 1", policy.CuresMember},
	{"O-10 no quorum, and one has just started", with(of("xxx", "oon", 2), waited), "Hold, partition 2", UpdatedNotReady},
	{"O-10 no quorum, and one was ready a moment ago", with(of("xxx", "oon", 2), func(f *Facts) { f.Sets[0].Pods[2].NotReadyFor = time.Second }), "Hold, partition 2", UpdatedNotReady},
	{"O-10 no quorum, and the template can't start", of("xxx", "oof", 2), "Hold, partition 2", UpdatedNotReady},
	{"O-10 no quorum, and none has the template", of("vxx", "ooo", 3), "Restart main-2, partition 2", policy.CuresMember},
	{"O-17 no quorum, and the data ends with the pods", with(of("xxx", "ooo", 3), dataEnds), "Hold, partition 3", DataEnds},
	{"O-17 and one has the template", with(of("xxx", "oon", 2), dataEnds), "Hold, partition 2", DataEnds},
	{"O-17 there is a quorum", with(of("vvx", "ooo", 3), dataEnds), "Restart main-2, partition 2", policy.CuresMember},
	{"O-10 no quorum for a moment", with(of("xxx", "ooo", 3), justNow), "Hold, partition 3", policy.NoQuorum},
	{"O-10 no quorum for a moment, and one has the template", with(of("vxx", "oon", 2), justNow), "Hold, partition 2", UpdatedNotReady},
	{"O-9 down for a moment", with(of("vvx", "ooo", 3), justNow), "Restart main-2, partition 2", policy.CuresMember},
	{"O-10 no quorum, one is left", of("vxx", "oon", 2), "Restart main-1, partition 1", policy.CuresMember},
	{"O-11 well", of("vvv", "ooo", 3), "Next main-2, partition 2", policy.AllReady},
	{"O-11 the second", of("vvv", "oon", 2), "Next main-1, partition 1", policy.AllReady},
	{"O-11 after a restart of the lowest", of("vvv", "noo", 3), "Next main-2, partition 2", policy.AllReady},
	{"O-11 released", of("vvv", "ooo", 2), "Next main-2, partition 2", policy.AllReady},
	{"O-11 the author's partition", with(of("vvv", "ooo", 3), func(f *Facts) { f.Sets[0].Author = 2 }), "Next main-2, partition 2", policy.AllReady},
	{"O-12 backups", with(of("vvv", "ooo", 3), func(f *Facts) { f.Cluster.BackupReady.Status, f.Since = policy.False, holdLimit }), "Next main-2, partition 2", HoldLimitPassed},
	{"O-12 one of five", with(of("pvvvv", "ooooo", 5), below(1), late), "Next main-4, partition 4", HoldLimitPassed},
	{"O-13 backups", with(of("vvv", "ooo", 3), func(f *Facts) { f.Cluster.BackupReady.Status = policy.False }), "Hold, partition 3", policy.BackupFailing},
	{"O-13 condition", with(of("vvv", "ooo", 3), func(f *Facts) { f.Cluster.AllMembersReady.Status = policy.False }), "Hold, partition 3", policy.ConditionFalse},
	{"O-13 two hang", of("ppv", "ooo", 3), "Hold, partition 3", policy.MemberDown},
	{"O-13 two hang, for long", with(of("ppv", "ooo", 3), late), "Hold, partition 3", policy.MemberDown},
	{"O-13 all hang, for long", with(of("ppp", "ooo", 3), late), "Hold, partition 3", policy.MemberDown},
	{"O-13 one was released, and then two hang", of("ppv", "ooo", 2), "Hold, partition 3", policy.MemberDown},
	{"O-13 below the author's partition", with(of("xvv", "ooo", 3), below(1)), "Hold, partition 3", policy.MemberDown},
	{"O-13 hangs below the author's partition", with(of("pvv", "ooo", 3), below(1), late), "Hold, partition 3", policy.MemberDown},
	{"O-13 hangs, and is not created before a lower one is ready", with(of("xvvvp", "ooooo", 5), below(1), inOrder), "Hold, partition 5", policy.MemberDown},
	{"O-13 ready for less than minReadySeconds, and the quorum needs it", with(of("xvv", "ooo", 3), below(1), young(2)), "Hold, partition 3", policy.MemberDown},
	{"O-23 all have been ready for less than minReadySeconds", with(of("vvv", "ooo", 3), peersMove, young(0, 1, 2)), "Hold, partition 3", PeersMove},
	{"O-13 all are young, their peers move, and nothing asks them", with(of("vvv", "ooo", 3), peersMove, justReady(0), justReady(1), justReady(2)), "Hold, partition 3", policy.MemberDown},
	{"O-11 another one has been ready for less than minReadySeconds", with(of("vvv", "ooo", 3), young(0)), "Next main-2, partition 2", policy.AllReady},
	{"O-8 with the new template for less than minReadySeconds", with(of("vvv", "oon", 2), young(2)), "Hold, partition 2", UpdatedNotReady},
	{"O-13 ready for less than minReadySeconds, and backups fail", with(of("vvv", "ooo", 3), young(0), backupsFail), "Hold, partition 3", policy.BackupFailing},
	{"O-13 a member has been ready for a moment", with(of("vvv", "ooo", 3), justReady(0)), "Hold, partition 3", policy.MemberDown},
	{"O-13 the same, for less than minReadySeconds, and backups fail", with(of("vvv", "ooo", 3), justReady(0), young(0), backupsFail), "Hold, partition 3", policy.MemberDown},
}

func TestRolloutRows(t *testing.T) {
	t.Parallel()
	for _, r := range rolloutRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			got := Evaluate(r.facts, settings)
			if text(got) != r.want || got.Reason != r.reason || got.Message == "" || got.Released[0] != (got.Act == Release) {
				t.Errorf("%s (%s: %s), want %s (%s)", text(got), got.Reason, got.Message, r.want, r.reason)
			}
		})
	}
}

// TestSpanning holds a cluster of three StatefulSets with one member each. One member restarts at a
// time, and the leader is the last.
func TestSpanning(t *testing.T) {
	t.Parallel()
	f := Facts{Cluster: policytest.ClusterOf("vvv"), Confirmed: true}
	f.Cluster.Members[1].Leader = true
	for i, name := range []string{"a", "b", "c"} {
		f.Sets = append(f.Sets, Set{Name: name, Held: true, Observed: true, Value: Value{Partition: 1}, Pods: []Pod{{Member: f.Cluster.Members[i]}}})
	}
	for _, want := range []int{2, 0, 1} {
		step := Evaluate(f, settings)
		for i, v := range step.Values {
			if released := i == want; released != (v.Partition == 0) && !step.Released[i] {
				t.Errorf("%+v, and the next is %d", step, want)
			}
		}
		f.Sets[want].Value, f.Sets[want].Pods[0].Updated = step.Values[want], true
	}
	if step := Evaluate(f, settings); step.Act != Release {
		t.Errorf("%+v", step)
	}
}
