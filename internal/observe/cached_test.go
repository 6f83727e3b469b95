// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// cached are objects as the manager's cache would hold them.
func cached(t *testing.T, objects observetest.Objects) observetest.Objects {
	t.Helper()
	held, err := objects.Cached(source.CacheOptions())
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// TestCacheKeepsMemberChanges has commands that change members in each object from which the cache
// drops them, or what they need.
func TestCacheKeepsMemberChanges(t *testing.T) {
	t.Parallel()
	removes := &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "etcdctl member remove $ID"}}}
	for what, edit := range map[string]func(*appsv1.StatefulSet){
		"none": func(*appsv1.StatefulSet) {},
		"a preStop hook": func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: removes}
		},
		"an init container": func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "join", Command: []string{"sh", "-c", "etcdctl member add $HOSTNAME"}}}
		},
		"a start script": func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Containers[0].Command = []string{"sh", "-c", "etcdctl member add $HOSTNAME; exec etcd"}
		},
		"a variable that names the data": func(s *appsv1.StatefulSet) {
			c := &s.Spec.Template.Spec.Containers[0]
			c.Env, c.Command = []corev1.EnvVar{{Name: "ETCD_DATA_DIR", Value: "/data"}}, []string{"sh", "-c", "rm -rf /data/member; exec etcd"}
		},
		"a program that is no etcdctl": func(s *appsv1.StatefulSet) {
			c := &s.Spec.Template.Spec.Containers[0]
			c.Env, c.Command = []corev1.EnvVar{{Name: "CTL", Value: "vault"}}, []string{"sh", "-c", "$CTL member add a; exec etcd"}
		},
	} {
		sts := observetest.EtcdSet("a/3")
		edit(sts)
		whole, _ := owner.Standalone(sts)
		held, found := owner.Standalone(cached(t, observetest.Objects{sts})[0].(*appsv1.StatefulSet))
		if !found || !slices.Equal(whole.MemberChanges, held.MemberChanges) || whole.Membership() != held.Membership() {
			t.Errorf("%s: %t %v %v, want %v %v", what, found, held.MemberChanges, held.Membership(), whole.MemberChanges, whole.Membership())
		}
	}
}
