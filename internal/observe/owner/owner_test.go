// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestEtcdOf holds that only an Etcd of etcd-druid counts, and no other kind of that name.
func TestEtcdOf(t *testing.T) {
	t.Parallel()
	yes := true
	for version, want := range map[string]bool{
		druidv1alpha1.SchemeGroupVersion.String(): true, "druid.gardener.cloud/v2": true, "example.com/v1alpha1": false, "v1": false,
	} {
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
			{APIVersion: version, Kind: "Etcd", Name: "main", Controller: &yes},
		}}}
		if _, got := EtcdOf(sts); got != want {
			t.Errorf("an Etcd of %s: %t, want %t", version, got, want)
		}
	}
	if _, got := EtcdOf(&appsv1.StatefulSet{}); got {
		t.Error("a StatefulSet without an owner is controlled by an Etcd")
	}
}

// TestSeparateOwner: what else is known of pods that list only themselves decides whether they are a cluster.
func TestSeparateOwner(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*Owner)
		want   bool
	}{
		{"several pods", func(*Owner) {}, true},
		{"one pod", func(o *Owner) { o.Replicas = 1 }, false},
		{"they list others", func(o *Owner) { o.ListSelf = false }, false},
		{"an operator made them", func(o *Owner) { o.Controller = &metav1.OwnerReference{Kind: "Etcd"} }, false},
		{"several voters are declared", func(o *Owner) { o.Annotations = map[string]string{v1alpha1.SizeAnnotation: "3"} }, false},
		{"a script adds members", func(o *Owner) { o.MemberChanges = []etcdconf.MemberChange{{Verb: "add"}} }, false},
		{"a hook can't be read", func(o *Owner) { o.MemberChanges = []etcdconf.MemberChange{{Unread: "no file"}} }, false},
	} {
		o := Owner{WorkloadKind: StatefulSet, StatefulSet: "a", Replicas: 5, ListSelf: true}
		row.change(&o)
		if got := o.Separate(); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
}
