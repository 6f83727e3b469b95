// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// shrunk has the StatefulSet run the first n of the members only. etcd still has the others as voters.
func shrunk(n int, more ...func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		f.Owner.Replicas, f.StatefulSet.Value.Spec.Replicas = int32(n), new(int32(n))
		f.Pods.Value, f.Survey.Value.Members, f.Placement.Value = f.Pods.Value[:n], f.Survey.Value.Members[:n], f.Placement.Value[:n]
		for i := range f.Survey.Value.List[n:] {
			f.Survey.Value.List[n+i].Pod = ""
		}
		for _, also := range more {
			also(f)
		}
	}
}

// lastHad is a list that no quorum confirms, and of which a member knows that it had so many voters.
func lastHad(n int) func(*Facts) {
	return func(f *Facts) {
		f.Survey.Value.List, f.Survey.Value.ListErr, f.LastVoters = nil, errRefused, n
	}
}

// recorded is a cluster whose budget records that it had so many members. They can't be asked.
func recorded(n int) func(*Facts) {
	return func(f *Facts) {
		f.Survey = Got[etcd.Survey]{Err: errRefused}
		f.Cluster.Value.Cluster = policy.Cluster{Size: n, Lost: n - f.Size()}
	}
}

// dead has the leader out of contact with members that nothing runs.
func dead(ids ...uint64) func(*Facts) {
	return func(f *Facts) {
		f.Silences = map[uint64]membership.Silence{}
		for _, id := range ids {
			f.Silences[id] = membership.Silence{Contact: membership.ContactNone}
		}
	}
}

// learning makes members learners, whose pods are Ready.
func learning(members ...int) func(*Facts) {
	return func(f *Facts) {
		for _, i := range members {
			f.Survey.Value.Members[i].Learner, f.Survey.Value.List[i].Learner = true, true
		}
	}
}

// notJoined has a pod that is not Ready, and whose member has not joined yet.
func notJoined(i int) func(*Facts) {
	return func(f *Facts) {
		f.Survey.Value.List, f.Survey.Value.Members[i].Err = slices.Delete(f.Survey.Value.List, i, i+1), errRefused
		f.Pods.Value[i] = f.Pods.Value[i].DeepCopy()
		f.Pods.Value[i].Status.Conditions = nil
	}
}

// budgetOf has a budget with a value that allows no eviction.
func budgetOf(least, most *intstr.IntOrString) func(*Facts) {
	return func(f *Facts) {
		b := &f.Selecting.Value[0]
		b.Spec.MinAvailable, b.Spec.MaxUnavailable, b.Status.DisruptionsAllowed = least, most, 0
	}
}

// TestOtherVotersThanPods has states in which etcd has another number of voters than Kubernetes has pods. No
// number that is printed may rely on the pods.
func TestOtherVotersThanPods(t *testing.T) {
	t.Parallel()
	keeps := func(n int32) func(*Facts) { return budgetOf(new(intstr.FromInt32(n)), nil) }
	loses := func(n int32) func(*Facts) { return budgetOf(nil, new(intstr.FromInt32(n))) }
	part := func(v string) func(*Facts) { return budgetOf(new(intstr.FromString(v)), nil) }
	all := func(with ...func(*Facts)) func(*Facts) {
		return func(f *Facts) {
			for _, change := range with {
				change(f)
			}
		}
	}
	none := func(f *Facts) { f.Selecting.Value = []policyv1.PodDisruptionBudget{} }
	together := func(f *Facts) { f.Placement.Value[1].Node, f.Placement.Value[1].Zone = "node-0", "a" }
	// elsewhere has the members without a pod run by other workloads.
	elsewhere := func(f *Facts) {
		f.Silences = map[uint64]membership.Silence{}
		for _, l := range f.Survey.Value.List {
			if l.Pod == "" {
				f.Silences[l.ID] = membership.Silence{Elsewhere: []string{"other-" + l.Name}, Contact: membership.ContactActive}
			}
		}
	}
	judge(t, []row{
		{name: "none for 3 of 5 voters", id: "B001", size: 5, with: shrunk(3, none), want: Warning, message: "no budget selects the pods of the 5 voters", fix: "--min-available=3 "},
		{name: "none for 1 of 3 voters", id: "B001", with: shrunk(1, none), want: Warning, fix: "--min-available=2 "},
		{name: "none, and the list had 5", id: "B001", size: 5, with: shrunk(3, none, lastHad(5)), want: Warning, fix: "--min-available=3 "},
		{name: "none, and 5 are recorded", id: "B001", size: 5, with: shrunk(3, none, recorded(5)), want: Warning, fix: "--min-available=3 "},
		{name: "none for 3 voters and 2 learners", id: "B001", size: 5, with: all(none, learning(3, 4)), want: Warning, fix: "--min-available=4 "},
		{name: "none for one of three that run elsewhere", id: "B001", with: shrunk(1, none, elsewhere), want: NotApplicable},

		{name: "2 of 5 voters", id: "B003", size: 5, with: shrunk(3, keeps(2)), want: Warning, message: "budget main (minAvailable=2) keeps 2 of 5 voters, quorum is 3", fix: `{"spec":{"minAvailable":3}}`},
		{name: "2 of 4 voters, and the one without a pod is dead", id: "B003", size: 4, with: shrunk(3, keeps(2), dead(4)), want: Warning, message: "keeps 2 of 4 voters, quorum is 3", fix: "kubectl etcd member remove statefulset/main 0000000000000004 -n team"},
		{name: "1 of 4 voters, and the one without a pod is dead", id: "B003", size: 4, with: shrunk(3, keeps(1), dead(4)), want: Warning, fix: `{"spec":{"minAvailable":3}}`},
		{name: "2 of 5 voters, of which one is dead", id: "B003", size: 5, with: shrunk(3, keeps(2), dead(4)), want: Warning, fix: `{"spec":{"minAvailable":3}}`},
		{name: "2 of 5 voters, and etcd-webhook keeps it", id: "B003", size: 5, with: shrunk(3, keeps(2), func(f *Facts) {
			f.Cluster.Value.Cluster.Target, f.Cluster.Value.Cluster.Namespace = "statefulset/main", "team"
			f.Selecting.Value[0].Annotations = map[string]string{v1alpha1.BudgetForAnnotation: "StatefulSet/main"}
		}), want: Warning, fix: `kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/size="5 at $(date -u +%FT%TZ)"`},
		{name: "3 of 5 voters", id: "B003", size: 5, with: shrunk(3, keeps(3)), want: OK},
		{name: "one of 3 pods of 5 voters may go", id: "B003", size: 5, with: shrunk(3, loses(1)), want: Warning, message: "keeps 2 of 5 voters, quorum is 3", fix: `{"spec":{"maxUnavailable":0}}`},
		{name: "no pod may go, and the quorum is lost", id: "B003", size: 5, with: shrunk(2, loses(0)), want: OK},
		{name: "2 of 5 that the list had", id: "B003", size: 5, with: shrunk(3, keeps(2), lastHad(5)), want: Warning, fix: `{"spec":{"minAvailable":3}}`},
		{name: "2 of 5 that are recorded", id: "B003", size: 5, with: shrunk(3, keeps(2), recorded(5)), want: Warning, fix: `{"spec":{"minAvailable":3}}`},
		{name: "none of 3 voters with one pod", id: "B003", with: shrunk(1, keeps(0)), want: Warning, message: "keeps 0 of 3 voters, quorum is 2", fix: `{"spec":{"minAvailable":2}}`},
		{name: "3 of 3 voters and 2 learners", id: "B003", size: 5, with: all(keeps(3), learning(3, 4)), want: Warning, message: "keeps 3 of 5 pods; 2 of them run no voter; quorum is 2 of 3", fix: `{"spec":{"minAvailable":4}}`},
		{name: "3 of 3 voters and one learner", id: "B003", size: 4, with: all(keeps(3), learning(3)), want: OK},
		{name: "2 of 5 pods, of which one has no member yet and one is a learner", id: "B003", size: 5, with: all(keeps(2), learning(3), notJoined(4)), want: Info, message: "keeps 2 of 5 pods for now: the members change", fix: "-"},
		{name: "3 of 5 pods, of which one has no member yet and one is a learner", id: "B003", size: 5, with: all(keeps(3), learning(3), notJoined(4)), want: OK},
		{name: "2 of 2 voters and a learner during an operation", id: "B003", with: all(keeps(2), learning(2), func(f *Facts) { f.Cluster.Value.Cluster.Operation = "members change" }), want: Info, fix: "-"},
		{name: "2 of 3, and only the lists of pods name a fourth", id: "B003", with: all(keeps(2), func(f *Facts) { f.Survey, f.Owner.Unmatched = Got[etcd.Survey]{Err: errRefused}, 1 }), want: OK},
		{name: "3 pods, and only their lists name a fourth", id: "Q003", with: func(f *Facts) { f.Survey.Value.List, f.Survey.Value.ListErr, f.Owner.Unmatched = nil, errRefused, 1 }, want: OK, message: "3"},
		{name: "2 of 3, and 2 elsewhere", id: "B003", size: 5, with: shrunk(3, keeps(2), elsewhere), want: OK},

		{name: "51 % of the pods of 5 voters", id: "B004", size: 5, with: shrunk(3, part("51%")), want: Warning, message: "keeps 2 of 5 voters"},

		{name: "all 3 pods of 5 voters", id: "B005", size: 5, with: shrunk(3, keeps(3)), want: NotApplicable, message: "etcd has 5 voters, and 3 pods are Ready: no member may be evicted now", fix: "-"},
		{name: "no pod of 5 voters may go", id: "B005", size: 5, with: shrunk(3, loses(0)), want: NotApplicable, fix: "-"},
		{name: "all 3 pods, and the list had 5", id: "B005", size: 5, with: shrunk(3, keeps(3), lastHad(5)), want: NotApplicable, fix: "-"},
		{name: "all 3 pods, and 5 are recorded", id: "B005", size: 5, with: shrunk(3, keeps(3), recorded(5)), want: NotApplicable, fix: "-"},
		{name: "the only pod of 3 voters", id: "B005", with: shrunk(1, keeps(1)), want: NotApplicable, fix: "-"},
		{name: "all, and a Ready one doesn't answer", id: "B005", with: all(keeps(3), silent(1)), want: NotApplicable, fix: "-"},
		{name: "all, and the voters are not known", id: "B005", with: all(keeps(3), func(f *Facts) { f.Survey = Got[etcd.Survey]{Err: errRefused} }), want: Warning,
			wholeFix: `once etcd has no more than 3 voters and all are healthy (kubectl etcd status statefulset/main -n team), kubectl patch poddisruptionbudget main --type=merge -p '{"spec":{"minAvailable":2}}' -n team`},
		{name: "all of 3 voters and a learner", id: "B005", size: 4, with: all(keeps(4), learning(3)), want: Warning, fix: `{"spec":{"minAvailable":3}}`},
		{name: "all of 3 voters and 2 learners", id: "B005", size: 5, with: all(keeps(5), learning(3, 4)), want: Warning, fix: `{"spec":{"minAvailable":4}}`},
		{name: "all of 2 voters and a learner", id: "B005", with: all(keeps(3), learning(2)), want: OK, fix: "-"},
		{name: "all of 3, and 2 elsewhere", id: "B005", size: 5, with: shrunk(3, keeps(3), elsewhere), want: Warning, fix: `{"spec":{"minAvailable":2}}`},

		{name: "2 of 5 pods of 7 voters together", id: "P001", size: 7, with: shrunk(5, together), want: Warning, message: "run on node node-0: its loss takes quorum"},
		{name: "the only pod of 3 voters", id: "P001", with: shrunk(1), want: NotApplicable, message: "one of 3 voters has a pod"},
		{name: "the only pod of 3 voters", id: "P002", with: shrunk(1), want: NotApplicable, message: "one of 3 voters has a pod"},

		{name: "2 of 5 pods of 7 voters", id: "W012", size: 7, with: shrunk(5, atOnce(intstr.FromInt32(2))), want: Warning, message: "restart 2 of 7 members at once, and only 1 may be down: the quorum is 4"},
		{name: "2 of 5 pods, and the list had 7", id: "W012", size: 7, with: shrunk(5, atOnce(intstr.FromInt32(2)), lastHad(7)), want: Warning, message: "only 1 may be down: the quorum is 4"},
		{name: "2 of 5 pods, and 2 elsewhere", id: "W012", size: 7, with: shrunk(5, atOnce(intstr.FromInt32(2)), elsewhere), want: OK},

		{name: "2 pods, and the list had 5", id: "Q003", size: 5, with: shrunk(2, lastHad(5)), want: OK, message: "5"},
		{name: "2 pods, and the list had 4", id: "Q003", size: 4, with: shrunk(2, lastHad(4)), want: Warning, message: "4 voters tolerate no more failures than 3", fix: "kubectl etcd check statefulset/main --only members -n team"},

		{name: "the only pod of 3 voters", id: "T004", with: shrunk(1, func(f *Facts) { f.Peer.Value.Service.Spec.PublishNotReadyAddresses = false }), want: Warning},
	})
}

// TestFaultOfSingleMembers has the only pod of three voters run a version with a fault that only single members have.
func TestFaultOfSingleMembers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		size   int
		with   func(*Facts)
		wanted bool
	}{
		{"a single member", 1, func(*Facts) {}, true},
		{"the only pod of 3 voters", 3, shrunk(1), false},
		{"the only pod, and the list had 3", 3, shrunk(1, lastHad(3)), false},
	} {
		f := healthy(row.size)
		row.with(f)
		f.Survey.Value.Members[0].Version = "3.5.4"
		found := slices.ContainsFunc(knownFaults(f), func(one Finding) bool { return strings.Contains(one.Message, "a single member") })
		if found != row.wanted {
			t.Errorf("%s: found %t, want %t", row.name, found, row.wanted)
		}
	}
}
