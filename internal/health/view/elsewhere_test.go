// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

func readyPod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: "node-" + name}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

func memberOf(pod *corev1.Pod) policy.Member {
	return policy.Member{Pod: pod.Name, Exists: true, PodReady: true, Ready: true}
}

// TestMembersOfSeveralWorkloads: ready members are counted of those that the cluster's own workloads and pods should
// have, as list counts them. A member that another workload runs is shown, and counts in the quorum alone.
func TestMembersOfSeveralWorkloads(t *testing.T) {
	t.Parallel()
	one := health.Facts{Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 2}}
	for i, pod := range []string{"main-0", "main-1"} {
		one.Pods.Value = append(one.Pods.Value, readyPod(pod))
		one.Survey.Value.Members = append(one.Survey.Value.Members, etcd.Member{Pod: pod, ID: uint64(i + 1), ClusterID: 7, LeaderID: 1, Leader: i == 0})
		one.Survey.Value.List = append(one.Survey.Value.List, etcd.Listed{ID: uint64(i + 1), Name: pod, Pod: pod})
	}
	third := etcd.Listed{ID: 3, Name: "x"}
	answer := etcd.Member{Pod: "x-5f9c", ID: 3, ClusterID: 7, LeaderID: 1}
	for _, row := range []struct {
		name string
		with func(*health.Facts)
		want string
	}{
		{"two", func(*health.Facts) {}, "2 of 2"},
		{"a pod beside", func(f *health.Facts) {
			f.Owner.PodsBeside = []string{"x-5f9c"}
			f.Pods.Value = append(f.Pods.Value[:2:2], readyPod("x-5f9c"))
			f.Survey.Value.Members = append(f.Survey.Value.Members[:2:2], answer)
			f.Survey.Value.List = append(f.Survey.Value.List[:2:2], etcd.Listed{ID: 3, Name: "x", Pod: "x-5f9c"})
		}, "3 of 3 x-5f9c OK"},
		{"another workload's, which answers", func(f *health.Facts) {
			f.Survey.Value.List = append(f.Survey.Value.List[:2:2], third)
			f.Survey.Value.Others = []etcd.Member{answer}
			f.Silences = map[uint64]membership.Silence{3: {Elsewhere: []string{"x-5f9c"}, Contact: membership.ContactAnswers}}
			f.Elsewhere = []*corev1.Pod{readyPod("x-5f9c")}
		}, "2 of 2 x-5f9c OK"},
		{"another workload's, which does not answer", func(f *health.Facts) {
			f.Survey.Value.List = append(f.Survey.Value.List[:2:2], third)
			f.Silences = map[uint64]membership.Silence{3: {Elsewhere: []string{"x-5f9c"}, Contact: membership.ContactNone}}
			f.Elsewhere = []*corev1.Pod{readyPod("x-5f9c")}
		}, "2 of 2 x-5f9c no answer"},
		{"another workload's, whose pod can't be read", func(f *health.Facts) {
			f.Survey.Value.List = append(f.Survey.Value.List[:2:2], third)
			f.Silences = map[uint64]membership.Silence{3: {Elsewhere: []string{"x-5f9c"}}}
		}, "2 of 2 x-5f9c no answer"},
		{"no workload's", func(f *health.Facts) {
			f.Survey.Value.List = append(f.Survey.Value.List[:2:2], third)
			f.Silences = map[uint64]membership.Silence{3: {Contact: membership.ContactNone}}
		}, "2 of 2  no pod"},
	} {
		f := one
		row.with(&f)
		// The pods are Ready as Kubernetes shows them.
		for _, pod := range f.Pods.Value {
			f.Cluster.Value.Cluster.Members = append(f.Cluster.Value.Cluster.Members, memberOf(pod))
		}
		st := StatusOf(&f)
		got := fmt.Sprintf("%d of %d", st.Replicas.Ready, st.Replicas.Desired)
		for i := range st.Members {
			if m := &st.Members[i]; !strings.HasPrefix(m.Pod, "main-") {
				got += " " + m.Pod + " " + m.State
			}
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
