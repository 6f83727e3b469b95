// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestMade has a row per way in which a pod can look like one of StatefulSet main.
func TestMade(t *testing.T) {
	t.Parallel()
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "main", UID: "main-uid"}}
	by := func(uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "main", UID: uid, Controller: new(true)}}
	}
	for _, row := range []struct {
		name, pod, label string
		owners           []metav1.OwnerReference
		want             bool
	}{
		{"it controls the pod", "main-0", "main-0", by(sts.UID), true},
		{"it controls a pod without labels", "main-0", "", by(sts.UID), true},
		{"it released the pod", "main-0", "main-0", nil, true},
		{"it released a pod beyond its replicas", "main-7", "main-7", nil, true},
		{"a bare pod with such a name", "main-0", "", nil, false},
		{"a copy of the pod with its labels", "main-0-debug", "main-0", nil, false},
		{"a released pod of another one", "main-a-0", "main-a-0", nil, false},
		{"another one controls the pod", "main-0", "main-0", by("other"), false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: row.pod, OwnerReferences: row.owners}}
		if row.label != "" {
			pod.Labels = map[string]string{appsv1.StatefulSetPodNameLabel: row.label}
		}
		if got := Made(sts, pod); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
