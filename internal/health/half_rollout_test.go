// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestHalfRolloutRestarts: what ends a rollout that was left half-way restarts members, and has the conditions under
// which that loses no data and no quorum.
func TestHalfRolloutRestarts(t *testing.T) {
	t.Parallel()
	partition := appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1))}}
	strategies := map[string]func(*appsv1.StatefulSet){
		"partition": func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy = partition },
		"OnDelete": func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
		},
		"held before etcd-webhook was deleted": func(s *appsv1.StatefulSet) {
			s.Annotations = map[string]string{v1alpha1.RolloutValueAnnotation: "partition=1", v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`}
			s.Spec.UpdateStrategy = partition
		},
	}
	for name, strategy := range strategies {
		for _, state := range []struct {
			name  string
			with  func(*Facts)
			wants string
		}{
			{"the data is in the pods", func(f *Facts) {
				for i := range f.Pods.Value {
					inPod(i)(f)
				}
			}, "only when the data is on persistent volumes (D006)"},
			{"several StatefulSets", spanning, "one StatefulSet at a time, and the next when all members are healthy again: "},
		} {
			t.Run(name+"/"+state.name, func(t *testing.T) {
				t.Parallel()
				f := healthy(3)
				f.Installed.Value = false
				state.with(f)
				for _, s := range append([]*appsv1.StatefulSet{f.StatefulSet.Value}, f.Parts.Value...) {
					s.Status = appsv1.StatefulSetStatus{Replicas: 1, CurrentRevision: "a", UpdateRevision: "b"}
					strategy(s)
				}
				checks, err := Selection{Only: []string{"W010"}}.Checks()
				if err != nil {
					t.Fatal(err)
				}
				for _, finding := range judged(t, checks, f)[0].Findings {
					if finding.Level != Warning || !strings.HasPrefix(finding.Fix, state.wants) {
						t.Errorf("%s\nthe fix: %s", finding.Message, finding.Fix)
					}
				}
			})
		}
	}
}
