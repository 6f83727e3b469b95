// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestRolledOut: an operation ends when its rollout is called complete, and waits for
// none that is held back or is the user's to go on with.
func TestRolledOut(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*appsv1.StatefulSet)
		want   bool
	}{
		{"not yet called complete", func(*appsv1.StatefulSet) {}, false},
		{"called complete", func(s *appsv1.StatefulSet) { s.Status.CurrentRevision = "b" }, true},
		{"called complete before the last change", func(s *appsv1.StatefulSet) { s.Status.CurrentRevision, s.Generation = "b", 2 }, false},
		{"held back by a partition", func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1))}
		}, true},
		{"on delete", func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }, true},
	} {
		s := &appsv1.StatefulSet{}
		s.Spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		s.Status = appsv1.StatefulSetStatus{CurrentRevision: "a", UpdateRevision: "b"}
		row.change(s)
		if got := rolledOut(s); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// TestNewPods: only new pods are awaited. Others may be unhealthy or gone.
func TestNewPods(t *testing.T) {
	t.Parallel()
	o := owner.Owner{StatefulSet: "main"}
	for _, row := range []struct {
		name    string
		journal Change
		want    []string
	}{
		{"scale out", Change{Record: membership.Record{Operation: membership.ScaleOut, Replicas: 3, Target: 5}}, []string{"main-3", "main-4"}},
		{"scale in", Change{Record: membership.Record{Operation: membership.ScaleIn, Replicas: 5, Target: 3}}, nil},
		{"replace", Change{Record: membership.Record{Operation: membership.Replace, Replicas: 3, Ordinal: 1}}, []string{"main-1"}},
		{"undone", Change{Record: membership.Record{Operation: membership.Replace, Replicas: 3, Ordinal: 1, Undo: true}}, nil},
	} {
		if got := newPods(o, &row.journal); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
