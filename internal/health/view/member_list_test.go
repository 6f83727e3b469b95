// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestMemberList: which list counts, what is noted of a member, and how the list of a single member
// differs.
func TestMemberList(t *testing.T) {
	t.Parallel()
	pods := []string{"main-0", "main-1"}
	zero := etcd.Listed{ID: 1, Name: "main-0", Pod: "main-0", PeerURLs: []string{"http://main-0:2380"}}
	one := etcd.Listed{ID: 2, Pod: "main-1", Learner: true}
	far := etcd.Listed{ID: 9, Name: "far"}
	voter := one
	voter.Learner = false
	answers := []etcd.Member{{Pod: "main-0", ID: 1, ClusterID: 7, Leader: true, RaftApplied: 10}, {Pod: "main-1", ID: 2, ClusterID: 7, RaftApplied: 20}}
	for _, row := range []struct {
		name      string
		survey    etcd.Survey
		own       map[string][]etcd.Listed
		authority string
		// notes are the pod or name of each member, with its note.
		notes, differences []string
	}{
		{
			name: "all agree", survey: etcd.Survey{Members: answers, List: []etcd.Listed{zero, one}}, own: map[string][]etcd.Listed{"main-0": {zero, one}, "main-1": {zero, one}},
			authority: v1alpha1.AuthorityQuorum, notes: []string{"main-0: ", "main-1: added, but not started yet"},
		},
		{
			name: "another workload runs one", survey: etcd.Survey{Members: answers, List: []etcd.Listed{zero, one, far}, Others: []etcd.Member{{Pod: "far-x", ID: 9, ClusterID: 7}}},
			own:       map[string][]etcd.Listed{"main-0": {zero, one, far}, "main-1": {zero, one, far}},
			authority: v1alpha1.AuthorityQuorum, notes: []string{"main-0: ", "main-1: added, but not started yet", "far: no pod of this cluster runs it, and pod far-x answers as it"},
		},
		{
			name: "no quorum: the member that is furthest ahead", survey: etcd.Survey{Members: answers}, own: map[string][]etcd.Listed{"main-0": {zero}, "main-1": {zero, far}},
			authority: v1alpha1.AuthorityMember, notes: []string{"main-0: ", "main-1: this pod is not a member", "far: no pod of this cluster runs it"},
			differences: []string{"main-0: it lacks far (0000000000000009)"},
		},
		{
			name: "an old list", survey: etcd.Survey{Members: answers, List: []etcd.Listed{zero, one}}, own: map[string][]etcd.Listed{"main-0": {zero, voter, far}},
			authority: v1alpha1.AuthorityQuorum, notes: []string{"main-0: ", "main-1: added, but not started yet"},
			differences: []string{"main-0: it has 0000000000000002 as a voter; it still has far (0000000000000009)"},
		},
	} {
		out := MemberList(v1alpha1.ClusterIdentity{}, row.survey, row.own, pods)
		var notes, differences []string
		for i := range out.Items {
			m := &out.Items[i]
			name := m.Pod
			if name == "" {
				name = m.Name
			}
			notes = append(notes, name+": "+m.Note)
		}
		for _, d := range out.Disagreements {
			differences = append(differences, d.Pod+": "+d.Message)
		}
		if out.Authority != row.authority || cmp.Diff(row.notes, notes) != "" || cmp.Diff(row.differences, differences) != "" {
			t.Errorf("%s: authority %q, %q, %q", row.name, out.Authority, notes, differences)
		}
	}
}

// TestMemberListProblem: which problem of a list is reported, the one that explains the others first.
func TestMemberListProblem(t *testing.T) {
	t.Parallel()
	whole := v1alpha1.EtcdMember{Pod: "main-0", ID: "1", Name: "main-0"}
	differs := []v1alpha1.Disagreement{{Pod: "main-0", Message: "it lacks far"}}
	for want, list := range map[string]v1alpha1.EtcdMemberList{
		"": {Authority: v1alpha1.AuthorityQuorum, Items: []v1alpha1.EtcdMember{whole}},
		"etcd/main in namespace team: no member answered with its member list":              {},
		"etcd/main in namespace team has no quorum: the list is the one of a single member": {Authority: v1alpha1.AuthorityMember, Disagreements: differs},
		"the members of etcd/main in namespace team have different member lists":            {Authority: v1alpha1.AuthorityQuorum, Disagreements: differs, Items: []v1alpha1.EtcdMember{{ID: "9"}}},
		"etcd/main in namespace team: 9: no pod of this cluster runs it":                    {Authority: v1alpha1.AuthorityQuorum, Items: []v1alpha1.EtcdMember{whole, {ID: "9", Note: "no pod of this cluster runs it"}}},
		"etcd/main in namespace team: main-1: this pod is not a member":                     {Authority: v1alpha1.AuthorityQuorum, Items: []v1alpha1.EtcdMember{whole, {Pod: "main-1", Note: "this pod is not a member"}}},
	} {
		list.Cluster = v1alpha1.ClusterIdentity{Target: "etcd/main", Namespace: "team"}
		if got := MemberListProblem(&list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
