// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// last adds a member without a pod of the cluster to the list that main-0 keeps.
func last(name string, s membership.Silence) func(*Facts) {
	return func(f *Facts) {
		id := uint64(20 + len(f.LastList))
		f.LastList = append(f.LastList, etcd.Listed{ID: id, Name: name, PeerURLs: []string{"http://" + name + ":2380"}})
		f.LastVoters++
		f.Silences[id] = s
	}
}

func stopped(workload string, replicas int) membership.Silence {
	return membership.Silence{Contact: membership.ContactUnknown, Stopped: workload, Replicas: replicas}
}

// quorumLost has only main-0 answer, without a leader.
func quorumLost(f *Facts) {
	f.Survey.Value.Members[0].Leader, f.Survey.Value.Members[0].LeaderID = false, 0
	f.LastList, f.LastVoters = f.Survey.Value.List[:1:1], 1
	f.Survey.Value.List, f.Survey.Value.ListErr = nil, errRefused
	f.Silences = map[uint64]membership.Silence{}
	f.Pods.Value[0].Spec.NodeName = "node"
}

// TestWaysBack: where the quorum is lost because workloads were scaled in, whichever they are, Q001 and diagnose have
// the command that starts them again.
func TestWaysBack(t *testing.T) {
	t.Parallel()
	deployments := func(f *Facts) {
		f.Owner.WorkloadKind, f.Owner.Kind, f.Owner.Name, f.Owner.StatefulSet = owner.Pods, "Deployment", "a", ""
		f.StatefulSet.Value = nil
	}
	b, c := last("b-0", stopped("statefulset/b", 1)), last("c-0", stopped("statefulset/c", 1))
	for _, r := range []struct {
		name string
		size int
		with []func(*Facts)
		want string // a command, or empty if there is no way back
	}{
		{"a StatefulSet for each member", 1, []func(*Facts){b, c}, "kubectl scale statefulset/b statefulset/c --replicas 1 -n team"},
		{"a part of a cluster over several StatefulSets", 1, []func(*Facts){b, c, func(f *Facts) {
			f.Owner.Workloads = []owner.Workload{{Name: "main", Replicas: 1}, {Name: "b"}, {Name: "c"}}
			f.Parts.Value = []*appsv1.StatefulSet{f.StatefulSet.Value}
		}}, "kubectl scale statefulset/b statefulset/c --replicas 1 -n team"},
		{"the StatefulSet beside a pod that is left", 1, []func(*Facts){last("main-0", stopped("statefulset/main", 1)), last("main-1", stopped("statefulset/main", 2)), func(f *Facts) {
			f.Owner.Replicas, f.Owner.PodsBeside, f.Pods.Value[0].Name, f.Survey.Value.Members[0].Pod, f.LastList[0].Pod = 0, []string{"x"}, "x", "x", "x"
			f.Serving["x"] = f.Serving["main-0"]
		}}, "kubectl scale statefulset/main --replicas 2 -n team"},
		{"a Deployment for each member", 1, []func(*Facts){last("b", stopped("deployment/b", 1)), last("c", stopped("deployment/c", 1)), deployments}, "kubectl scale deployment/b deployment/c --replicas 1 -n team"},
		{"a StatefulSet and a Deployment", 1, []func(*Facts){b, last("c", stopped("deployment/c", 1))}, "kubectl scale statefulset/b deployment/c --replicas 1 -n team"},
		{"a StatefulSet of two", 1, []func(*Facts){last("b-0", stopped("statefulset/b", 1)), last("b-1", stopped("statefulset/b", 2))}, "kubectl scale statefulset/b --replicas 2 -n team"},
		{"one of two members and one of one", 1, []func(*Facts){last("b-0", stopped("statefulset/b", 1)), last("b-1", stopped("statefulset/b", 2)), c}, "kubectl scale statefulset/b --replicas 2 -n team && kubectl scale statefulset/c --replicas 1 -n team"},
		{"the data of one is gone", 1, []func(*Facts){b, last("c-0", membership.Silence{})}, "kubectl scale statefulset/b --replicas 1 -n team"},
		{"the data of the first of two is gone", 1, []func(*Facts){last("b-0", membership.Silence{}), last("b-1", stopped("statefulset/b", 2))}, ""},
		{"the first of two runs elsewhere", 1, []func(*Facts){last("b-0", membership.Silence{Elsewhere: []string{"b-0"}}), last("b-1", stopped("statefulset/b", 2))}, "kubectl scale statefulset/b --replicas 2 -n team"},
		{"another pod has the name", 1, []func(*Facts){last("b-0", membership.Silence{Elsewhere: []string{"x"}, Stopped: "statefulset/b", Replicas: 1}), last("c-0", membership.Silence{})}, ""},
		{"it is only possible that a workload is the one", 1, []func(*Facts){last("b-0", membership.Silence{Stopped: "statefulset/other", Replicas: 1, StoppedPerhaps: true}), last("c-0", membership.Silence{})}, ""},
		{"two voters of one pod", 1, []func(*Facts){last("b", stopped("deployment/b", 1)), last("c", stopped("deployment/b", 1)), deployments}, ""},
		{"a learner", 1, []func(*Facts){last("b-0", membership.Silence{}), c, func(f *Facts) { f.LastList[2].Learner = true; f.LastVoters = 2 }}, ""},
		{"several clusters", 2, []func(*Facts){b, c, func(f *Facts) { f.Survey.Value.Members[1].ClusterID, f.Survey.Value.Members[1].LeaderID = 9, 0 }}, ""},
		{"nothing was scaled in", 1, []func(*Facts){last("b-0", membership.Silence{}), last("c-0", membership.Silence{})}, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			f := healthy(r.size)
			quorumLost(f)
			for _, with := range r.with {
				with(f)
			}
			found := quorumAnswers(f)[0]
			if scales := len(found.Fix) > 13 && found.Fix[:13] == "kubectl scale"; found.Level != Failure || scales != (r.want != "") || scales && found.Fix != r.want {
				t.Errorf("Q001 is %s, %s: %s, want %s", found.Level, found.Message, found.Fix, r.want)
			}
			a := recovery.Diagnose(f.Recovery()).Scenarios[0].Action
			if got := f.Order(a); (a.Do == recovery.ScaleBack) != (r.want != "") || r.want != "" && got != r.want {
				t.Errorf("diagnose has %s %q (%s), want %q", a.Do, got, a.Why, r.want)
			}
			judged(t, All(), f)
		})
	}
}
