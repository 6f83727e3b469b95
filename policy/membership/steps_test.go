// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// stepRows are the rows about what comes next, in the notation of peers. Pods are
// there up to replicas and as they should be; a test changes what it is about.
var stepRows = []struct {
	row, members string
	operation    Operation
	target       int
	undo         bool
	change       func(*ClusterState)
	want         Act
	ordinal      int
	reason       policy.Reason
}{
	{row: "M-20 the partition goes before the template", members: "L", operation: ScaleOut, target: 3, want: SetPartition},
	{row: "M-20 then the template", members: "L", operation: ScaleOut, target: 3, change: func(s *ClusterState) { s.Partition = 1 }, want: SetBootstrap},
	{row: "M-20 a ConfigMap needs no partition", members: "L", operation: ScaleOut, target: 3, change: func(s *ClusterState) { s.InTemplate = false }, want: SetBootstrap},
	{row: "M-20 nor does OnDelete", members: "L", operation: ScaleOut, target: 3, change: func(s *ClusterState) { s.OnDelete = true }, want: SetBootstrap},
	{row: "M-21 then the learner", members: "L", operation: ScaleOut, target: 3, change: bootstrapped("11"), want: AddLearner, ordinal: 1},
	{row: "M-21 not before all voters are healthy", members: "Lvx", operation: ScaleOut, target: 5, want: Wait, reason: VoterDown},
	{row: "M-22 then its replica", members: "Ld", operation: ScaleOut, target: 3, change: func(s *ClusterState) { two(s); s.Replicas = 1 }, want: SetReplicas},
	{row: "M-23 no vote before it has caught up", members: "Ll", operation: ScaleOut, target: 3, change: two, want: Wait, reason: policy.CatchingUp},
	{row: "M-23 then the vote", members: "Lc", operation: ScaleOut, target: 3, change: two, want: Promote, ordinal: 1},
	{row: "M-23 not where it would cost the quorum", members: "xc", operation: ScaleOut, target: 3, change: two, want: Wait, reason: policy.NoQuorum},
	{row: "M-24 another's learner", members: "Lvv-l", operation: ScaleOut, target: 5, want: Stop, reason: policy.LearnerPresent},
	{row: "M-24 a learner while scaling in", members: "Lvvvl", operation: ScaleIn, target: 3, want: Stop, reason: policy.LearnerPresent},
	{row: "M-24 a learner while replacing", members: "Lvvl", operation: Replace, want: Stop, reason: policy.LearnerPresent},
	{row: "M-25 a member without an ordinal", members: "Lvv", operation: ScaleOut, target: 5, change: func(s *ClusterState) { s.Members[2].Ordinal = -1 }, want: Stop, reason: MemberWithoutOrdinal},
	{row: "M-25 an ordinal without a member", members: "L-v", operation: ScaleOut, target: 5, want: Stop, reason: MemberGap},
	{row: "M-26 leadership leaves the victim", members: "vvvvL", operation: ScaleIn, target: 3, want: MoveLeader, ordinal: 4},
	{row: "M-26 then it leaves the list", members: "Lvvvv", operation: ScaleIn, target: 3, want: RemoveMember, ordinal: 4},
	{row: "M-26 not while another is down", members: "Lxvvv", operation: ScaleIn, target: 3, want: Wait, reason: VoterDown},
	{row: "M-27 then its replica goes", members: "Lvvv", operation: ScaleIn, target: 3, change: func(s *ClusterState) { s.Replicas = 5 }, want: SetReplicas},
	{row: "M-27 then its pod", members: "Lvvv", operation: ScaleIn, target: 3, change: func(s *ClusterState) { s.Ordinals[4].UID = "1" }, want: Wait, reason: PodGoing},
	{row: "M-27 then its volume", members: "Lvvv", operation: ScaleIn, target: 3, change: func(s *ClusterState) { s.Ordinals[4].Claims = []string{"1"} }, want: DeleteClaims, ordinal: 4},
	{row: "M-28 the dead one leaves the list first", members: "xLv", operation: Replace, want: RemoveMember},
	{row: "M-28 not while another is down", members: "xLxvv", operation: Replace, want: Wait, reason: VoterDown},
	{row: "M-29 then OnDelete", members: "-Lv", operation: Replace, want: SetOnDelete},
	{row: "M-29 then the template", members: "-Lv", operation: Replace, change: func(s *ClusterState) { s.OnDelete, s.Bootstrap = true, BootstrapFlags{} }, want: SetBootstrap},
	{row: "M-29 then the learner", members: "-Lv", operation: Replace, change: func(s *ClusterState) { s.OnDelete, s.Bootstrap = true, s.bootstrapFor(0) }, want: AddLearner},
	{row: "M-30 then its volumes", members: "dLv", operation: Replace, change: renewed, want: DeleteClaims},
	{row: "M-30 then its pod", members: "dLv", operation: Replace, change: func(s *ClusterState) { renewed(s); s.Ordinals[0].Claims, s.Ordinals[0].TerminatingClaims = nil, 1 }, want: DeletePod},
	{row: "M-30 not before the controller knows the template", members: "dLv", operation: Replace, change: func(s *ClusterState) { renewed(s); s.Ordinals[0].Claims, s.Observed = nil, false }, want: Wait, reason: NotObserved},
	{row: "M-30 the learner's own pod stays", members: "dLv", operation: Replace, change: func(s *ClusterState) { renewed(s); s.Ordinals[0].Claims, s.Ordinals[0].UID = []string{"2"}, "2" }, want: Wait, reason: policy.CatchingUp},
	{row: "M-31 the template as it was", members: "Lvv", operation: Replace, change: func(s *ClusterState) { s.Members[0].ID = 9; s.OnDelete, s.Original = true, false }, want: RestoreTemplate},
	{row: "M-31 the pod is marked", members: "Lvv", operation: Replace, change: func(s *ClusterState) { s.Members[0].ID = 9; s.OnDelete, s.Ordinals[0].Updated = true, false }, want: AdoptPod},
	{row: "M-31 the controller has seen it", members: "Lvv", operation: Replace, change: func(s *ClusterState) { s.Members[0].ID = 9; s.OnDelete, s.AllUpdated = true, false }, want: Wait, reason: NotObserved},
	{row: "M-31 the strategy as it was", members: "Lvv", operation: Replace, change: func(s *ClusterState) { s.Members[0].ID = 9; s.OnDelete = true }, want: RestoreStrategy},
	{row: "M-31 nothing is left", members: "Lvv", operation: Replace, change: func(s *ClusterState) { s.Members[0].ID = 9 }, want: Done},
	{row: "M-32 the learner is taken back", members: "Ld", operation: ScaleOut, undo: true, target: 3, change: two, want: RemoveMember, ordinal: 1},
	{row: "M-32 its replica", members: "L", operation: ScaleOut, undo: true, target: 3, change: func(s *ClusterState) { s.Replicas = 2 }, want: SetReplicas},
	{row: "M-32 its volume", members: "L", operation: ScaleOut, undo: true, target: 3, change: func(s *ClusterState) { s.Ordinals[1].Claims = []string{"2"} }, want: DeleteClaims, ordinal: 1},
	{row: "M-32 not the volume of a higher ordinal", members: "L", operation: ScaleOut, undo: true, target: 5, change: func(s *ClusterState) { s.Ordinals[2].Claims = []string{"2"} }, want: Done},
	{row: "M-32 nor a learner of a higher ordinal", members: "L--d", operation: ScaleOut, undo: true, target: 5, change: func(s *ClusterState) {
		s.Replicas = 1
		for at := range s.Ordinals[1:] {
			s.Ordinals[at+1].UID, s.Ordinals[at+1].Claims = "", nil
		}
	}, want: Done},
	{row: "M-32 the template, under the partition", members: "L", operation: ScaleOut, undo: true, target: 3, change: func(s *ClusterState) { s.Partition, s.Original = 1, false }, want: RestoreTemplate},
	{row: "M-32 a replacement's learner", members: "dLv", operation: Replace, undo: true, change: renewed, want: RemoveMember},
	{row: "M-33 who votes stays", members: "Lv", operation: ScaleOut, undo: true, target: 3, change: func(s *ClusterState) { s.Original, s.Partition, s.Bootstrap = false, 2, s.bootstrapFor(-1) }, want: RestoreStrategy},
	{row: "M-33 also while scaling in", members: "Lvvvv", operation: ScaleIn, undo: true, target: 3, want: Done},
	{row: "M-35 who has left loses the replica", members: "Lvvv", operation: ScaleIn, undo: true, target: 3, change: func(s *ClusterState) { s.Replicas = 5 }, want: SetReplicas},
	{row: "M-35 and the volumes", members: "Lvvv", operation: ScaleIn, undo: true, target: 3, change: func(s *ClusterState) { s.Ordinals[4].Claims = []string{"1"} }, want: DeleteClaims, ordinal: 4},
	{row: "M-35 and no other member is removed", members: "Lvvv", operation: ScaleIn, undo: true, target: 3, want: Done},
	{row: "M-36 another's change of the template", members: "Lv", operation: ScaleOut, undo: true, target: 3, change: func(s *ClusterState) {
		s.Original, s.Partition, s.Bootstrap, s.TemplateEdited, s.Ordinals[0].Updated = false, 2, s.bootstrapFor(-1), true, false
	}, want: RestoreStrategy},
	{row: "M-33 also above an ordinal that has lost its member", members: "L-v", operation: ScaleOut, undo: true, target: 5, want: SetPartition},
	{row: "M-33 also where the first ordinal has none", members: "-Lv", operation: ScaleOut, undo: true, target: 5, want: SetPartition},
	{row: "M-25 nothing goes while a voter has no ordinal", members: "Lvv", operation: ScaleOut, undo: true, target: 5, change: func(s *ClusterState) { s.Members[1].Ordinal = -1 }, want: Stop, reason: MemberWithoutOrdinal},
	{row: "M-25 but the learner", members: "Lvd", operation: ScaleOut, undo: true, target: 5, change: func(s *ClusterState) { s.Members[0].Ordinal = -1 }, want: RemoveMember, ordinal: 2},
	{row: "M-37 replicas below a voter, scaling out", members: "Lvvxx", operation: ScaleOut, target: 5, change: lowered, want: SetReplicas},
	{row: "M-37 or taking that back", members: "Lvvxx", operation: ScaleOut, undo: true, target: 5, change: lowered, want: SetReplicas},
	{row: "M-37 or scaling in", members: "Lvvxx", operation: ScaleIn, target: 3, change: lowered, want: SetReplicas},
	{row: "M-37 or leaving that", members: "Lvvxx", operation: ScaleIn, undo: true, target: 3, change: lowered, want: SetReplicas},
	{row: "M-37 or replacing", members: "Lvx", operation: Replace, change: func(s *ClusterState) { s.Replicas = 2 }, want: SetReplicas},
	{row: "M-37 one that is out already", members: "-", operation: Replace, change: func(s *ClusterState) { s.Replicas = 0 }, want: SetReplicas},
	{row: "M-34 an unknown operation", members: "L", operation: "Reshuffle", want: Stop, reason: UnknownOperation},
}

// bootstrapped is a template that names the first ordinals, and the partition before it.
func bootstrapped(letters string) func(*ClusterState) {
	return func(s *ClusterState) {
		s.Original, s.Partition, s.Bootstrap = false, 1, BootstrapFlags{Existing: true}
		for at := range letters {
			s.Bootstrap.URLs = append(s.Bootstrap.URLs, modelURL(at))
		}
	}
}

func lowered(s *ClusterState) { s.Replicas = 3 }

func two(s *ClusterState) {
	bootstrapped("11")(s)
	s.Replicas = 2
}

// renewed is a replacement at its learner: ordinal 0, the pod and its claim still old.
func renewed(s *ClusterState) {
	s.Members[0].ID, s.OnDelete, s.Original, s.Bootstrap = 9, true, false, s.bootstrapFor(-1)
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, r := range stepRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			s := ClusterState{Members: peers(r.members), InTemplate: true, Original: true, Observed: true, AllUpdated: true}
			s.Replicas = s.highest() + 1
			for at := range ordinals {
				replica := Replica{Pod: "main-0", URL: modelURL(at)}
				if at < s.Replicas {
					replica.UID, replica.Updated, replica.Claims = "1", true, []string{"1"}
				}
				s.Ordinals = append(s.Ordinals, replica)
			}
			record := Record{Operation: r.operation, Target: r.target, Replicas: s.size(), Undo: r.undo, Member: 1, UID: "1", Claims: []string{"1"}}
			if r.undo {
				record.Replicas = 1
			}
			if r.change != nil {
				r.change(&s)
			}
			got := Next(s, record)
			if got.Act != r.want || got.Ordinal != r.ordinal || got.Reason != r.reason {
				t.Errorf("got %+v, want %s at %d for %q", got, r.want, r.ordinal, r.reason)
			}
		})
	}
}
