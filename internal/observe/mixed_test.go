// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestMixedCluster has a StatefulSet of two members and a bare pod. Every target names the one cluster, and
// its facts have three members. The manager's reader, which knows no such pods, counts one elsewhere.
//
//nolint:gocyclo // one check a fact
func TestMixedCluster(t *testing.T) {
	t.Parallel()
	const list = "main-0=http://main-0.main:2380,main-1=http://main-1.main:2380,x=http://x:2380"
	sts := observetest.EtcdSet("main/2")
	sts.Spec.Template.Spec.Containers[0].Env[1].Value = list
	pod := func(name string, labels map[string]string, command ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name), Labels: labels}}
		p.Spec.Containers = []corev1.Container{{Name: "etcd", Command: command}}
		return p
	}
	objects := observetest.Objects{sts, pod("x", nil, "etcd", "--name=x", "--initial-advertise-peer-urls=http://x:2380", "--initial-cluster="+list)}
	for _, name := range []string{"main-0", "main-1"} {
		p := pod(name, map[string]string{"app": "main"}, "etcd")
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "main", UID: sts.UID, Controller: new(true)}}
		objects = append(objects, p)
	}
	none := func() bool { return true }
	r := &observe.Reader{Reader: objects, NoEtcds: none, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	clusters, err := r.Clusters(t.Context())
	if err != nil || len(clusters) != 1 || !slices.Equal(clusters[0].PodsBeside, []string{"x"}) {
		t.Fatalf("%+v, %v", clusters, err)
	}
	for _, target := range []owner.Target{{}, {Name: "main"}, {Name: "x"}, {Kind: "pod", Name: "x"}, {Kind: "pod", Name: "main-1"}, {Kind: "statefulset", Name: "main"}} {
		o, err := resolve.Target(t.Context(), r, "team", target)
		if err != nil || o.Key() != clusters[0].Key() || len(o.PodsBeside) != 1 {
			t.Errorf("%s: %+v, %v", target, o, err)
		}
	}
	f, err := r.Facts(t.Context(), clusters[0])
	if err != nil || len(f.Cluster.Members) != 3 || f.Cluster.Size != 3 || f.Cluster.Elsewhere != 0 {
		t.Errorf("%+v, %v", f.Cluster, err)
	}
	manager := &observe.Reader{Reader: objects, Live: objects, NoEtcds: none, Leases: r.Leases}
	o, found, err := manager.Owner(t.Context(), clusters[0].Key())
	if err != nil || !found || len(o.PodsBeside) != 0 || o.Elsewhere != 1 {
		t.Errorf("the manager knows %+v, %v", o, err)
	}
}

// TestMixedClusterWithoutAPod: a pod beside a StatefulSet is in the size, and does not count for one that is missing.
func TestMixedClusterWithoutAPod(t *testing.T) {
	t.Parallel()
	const list = "main-0=http://main-0.main:2380,main-1=http://main-1.main:2380,x=http://x:2380"
	sts := observetest.EtcdSet("main/2")
	sts.Spec.Template.Spec.Containers[0].Env[1].Value = list
	ready := func(name string, command ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name)}}
		p.Spec.Containers = []corev1.Container{{Name: "etcd", Command: command, ReadinessProbe: &corev1.Probe{}}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		return p
	}
	own := func(name string) *corev1.Pod {
		p := ready(name, "etcd")
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "main", UID: sts.UID, Controller: new(true)}}
		return p
	}
	beside := ready("x", "etcd", "--name=x", "--initial-advertise-peer-urls=http://x:2380", "--initial-cluster="+list)
	for _, row := range []struct {
		objects observetest.Objects
		all     policy.Status
	}{
		{observetest.Objects{sts, beside, own("main-0"), own("main-1")}, policy.True},
		{observetest.Objects{sts, beside, own("main-0")}, policy.False},
	} {
		r := &observe.Reader{Reader: row.objects, NoEtcds: func() bool { return true }, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
		clusters, err := r.Clusters(t.Context())
		if err != nil || len(clusters) != 1 || clusters[0].Members() != 3 {
			t.Fatalf("%+v, %v", clusters, err)
		}
		f, err := r.Facts(t.Context(), clusters[0])
		if err != nil || f.Cluster.Size != 3 || f.Cluster.Lost != 0 || f.Cluster.AllMembersReady.Status != row.all {
			t.Errorf("%d objects: %+v, %v", len(row.objects), f.Cluster, err)
		}
	}
}
