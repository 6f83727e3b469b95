// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestVotersWithClaims holds that claims which a scale-in left count as voters, until an annotation
// that is newer contains another number.
func TestVotersWithClaims(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	five := []claimOrdinal{{0, noon}, {1, noon}, {2, noon}, {3, noon}, {4, noon}}
	for _, row := range []struct {
		name, size string
		recorded   bool
		product    flavour.Name
		want       int
	}{
		{"no annotation", "", true, flavour.Plain, 5},
		{"a newer annotation", "3 at 2026-11-20T12:00:01Z", false, flavour.Plain, 3},
		{"an older annotation", "3 at 2026-11-20T11:59:59Z", true, flavour.Plain, 5},
		{"an annotation without a time that a budget records", "3", true, flavour.Plain, 3},
		{"an annotation without a time that no budget records", "3", false, flavour.Plain, 5},
		{"an annotation without a time, and more", "7", false, flavour.Plain, 7},
		{"an operator removes members", "", true, flavour.Cozystack, 0},
		{"an operator removes none", "", true, flavour.Karmada, 5},
	} {
		w := Workload{owner: owner.Owner{Distribution: row.product, Annotations: map[string]string{v1alpha1.SizeAnnotation: row.size}}}
		if got := w.votersWithClaims(five, row.recorded); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

// TestClaimOrdinals: a claim that is being deleted is none of a member.
func TestClaimOrdinals(t *testing.T) {
	t.Parallel()
	claim := func(name string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	}
	going := claim("data-main-1")
	going.DeletionTimestamp = new(metav1.Now())
	r := &Reader{Reader: observetest.Objects{claim("data-main-0"), going, claim("data-main-2"), claim("other-main-3")}}
	w := Workload{owner: owner.Owner{WorkloadKind: owner.StatefulSet, Namespace: "team", Name: "main", StatefulSet: "main", Claims: []owner.Claim{{Template: "data"}}}}
	got, err := r.claimOrdinals(t.Context(), &w)
	if err != nil || len(got) != 2 || got[0].ordinal != 0 || got[1].ordinal != 2 {
		t.Errorf("%+v: %v", got, err)
	}
}
