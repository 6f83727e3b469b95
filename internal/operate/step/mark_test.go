// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestMark: what the first step recorded stays, and a mark without a number is none.
func TestMark(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 1, time.UTC)
	const now = "2026-11-20T12:00:00.000000001Z "
	deleting := &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
	for _, row := range []struct {
		mark   string
		policy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy
		want   Mark
		marked bool
		next   string
	}{
		{"", nil, Mark{}, false, now + "5"},
		{"", deleting, Mark{}, false, now + "5 Delete"},
		{"2026-11-20T11:00:00Z", nil, Mark{}, false, now + "5"},
		{"2026-11-20T11:00:00Z -1", nil, Mark{Replicas: 0}, false, now + "5"},
		{"2026-11-20T11:00:00Z 99999999999", nil, Mark{}, false, now + "5"},
		{"2026-11-20T11:00:00Z 3", deleting, Mark{Replicas: 3}, true, now + "3"},
		{"2026-11-20T11:00:00Z 3 Delete", nil, Mark{Replicas: 3, DeletesClaims: true}, true, now + "3 Delete"},
	} {
		sts := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.RestoreAnnotation: row.mark}},
			Spec:       appsv1.StatefulSetSpec{Replicas: new(int32(5)), PersistentVolumeClaimRetentionPolicy: row.policy},
		}
		if got, marked := MarkOf(sts); marked != row.marked || marked && got != row.want {
			t.Errorf("%q: %+v, %t, want %+v, %t", row.mark, got, marked, row.want, row.marked)
		}
		if got := markOf(sts, at); got != row.next {
			t.Errorf("%q: the next is %q, want %q", row.mark, got, row.next)
		}
	}
}

// TestClaimPolicy: the policy that a restore sets has its mark in the same write, and the command has none.
func TestClaimPolicy(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), ClaimPolicy{StatefulSet: "main", WhenScaled: "Retain", Mark: true}
	wantCommand(t, a, `kubectl --context desk -n team patch statefulset/main --type merge -p '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Retain"}}}'`)
	w.do(t, a)
	w.wantField(t, set, "Retain", "spec", "persistentVolumeClaimRetentionPolicy", "whenScaled")
	w.wantField(t, set, w.clients.Clock.Now().UTC().Format(time.RFC3339Nano)+" 3", "metadata", "annotations", v1alpha1.RestoreAnnotation)
}
