// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
