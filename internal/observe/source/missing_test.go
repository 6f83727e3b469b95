// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	m := NewMissing(now)
	gone := &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "a", UID: "1"}
	other := func(change func(*metav1.OwnerReference)) *metav1.OwnerReference {
		ref := *gone
		change(&ref)
		return &ref
	}
	m.Add("db", gone)
	for name, row := range map[string]struct {
		namespace string
		ref       *metav1.OwnerReference
		want      bool
	}{
		"the same":          {"db", gone, true},
		"another namespace": {"team", gone, false},
		"another name":      {"db", other(func(r *metav1.OwnerReference) { r.Name = "b" }), false},
		"another kind":      {"db", other(func(r *metav1.OwnerReference) { r.Kind = "Etcd" }), false},
		"created again":     {"db", other(func(r *metav1.OwnerReference) { r.UID = "2" }), false},
	} {
		if got := m.Has(row.namespace, row.ref); got != row.want {
			t.Errorf("%s: missing %t, want %t", name, got, row.want)
		}
	}
	now.SetTime(now.Now().Add(missingFor))
	if m.Has("db", gone) {
		t.Error("it is remembered for longer than missingFor")
	}
	var none *Missing
	none.Add("db", gone)
	if none.Has("db", gone) {
		t.Error("a nil Missing remembers")
	}
}

// TestMissingIsBounded holds that it can't be filled: others are not remembered until there is room again.
func TestMissingIsBounded(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	m := NewMissing(now)
	ref := func(i int) *metav1.OwnerReference {
		return &metav1.OwnerReference{Kind: "StatefulSet", Name: "a", UID: types.UID(fmt.Sprint(i))}
	}
	for i := range 2 * mostMissing {
		m.Add("hostile", ref(i))
	}
	if len(m.since) != mostMissing || m.Has("hostile", ref(mostMissing)) {
		t.Errorf("%d are remembered", len(m.since))
	}
	now.SetTime(now.Now().Add(missingFor))
	if m.Add("db", ref(0)); len(m.since) != 1 || !m.Has("db", ref(0)) {
		t.Errorf("%d are remembered after a moment", len(m.since))
	}
}
