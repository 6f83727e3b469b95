// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestAuthorAnnotation checks that AuthorStrategy reads what AuthorAnnotation writes into the record of a rollout.
func TestAuthorAnnotation(t *testing.T) {
	t.Parallel()
	author := appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{
		Partition: new(int32(2)), MaxUnavailable: new(intstr.FromString("50%")),
	}}
	var sts appsv1.StatefulSet
	sts.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	sts.Annotations = map[string]string{v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`, v1alpha1.RolloutValueAnnotation: "OnDelete"}
	annotations, err := AuthorAnnotation(author)
	if err != nil || len(annotations) != 1 {
		t.Fatal(annotations, err)
	}
	maps.Copy(sts.Annotations, annotations)
	got, held := AuthorStrategy(&sts)
	if !held {
		t.Error("the rollout is not held")
	}
	if diff := cmp.Diff(&author, got); diff != "" {
		t.Error(diff)
	}
}
