// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"testing"

	druidcommon "github.com/gardener/etcd-druid/api/common"
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
)

// TestReconciledReplicas checks in which states of an Etcd that was set from 1 member to 3 the cluster
// counts as one of three.
func TestReconciledReplicas(t *testing.T) {
	t.Parallel()
	one := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32(1))}}
	for _, row := range []struct {
		name        string
		sts         *appsv1.StatefulSet
		state       druidcommon.LastOperationState
		annotations map[string]string
		want        int32
	}{
		{"etcd-druid has no annotation", one, druidv1alpha1.LastOperationStateSucceeded, nil, 1},
		{"it stopped halfway and does not retry", one, druidv1alpha1.LastOperationStateRequeue, nil, 1},
		{"it failed and does not retry", one, druidv1alpha1.LastOperationStateError, nil, 1},
		{"it acts", one, druidv1alpha1.LastOperationStateProcessing, nil, 3},
		{"it never acted", one, "", nil, 3},
		{"the annotation is set", one, druidv1alpha1.LastOperationStateSucceeded, map[string]string{druidv1alpha1.DruidOperationAnnotation: druidv1alpha1.DruidOperationReconcile}, 3},
		{"Gardener's annotation is set", one, druidv1alpha1.LastOperationStateSucceeded, map[string]string{druidv1alpha1.GardenerOperationAnnotation: druidv1alpha1.DruidOperationReconcile}, 3},
		{"it fails and retries", one, druidv1alpha1.LastOperationStateError, map[string]string{druidv1alpha1.DruidOperationAnnotation: druidv1alpha1.DruidOperationReconcile}, 3},
		{"the annotation is set, and it is suspended", one, druidv1alpha1.LastOperationStateSucceeded, map[string]string{
			druidv1alpha1.DruidOperationAnnotation: druidv1alpha1.DruidOperationReconcile, druidv1alpha1.SuspendEtcdSpecReconcileAnnotation: "",
		}, 1},
		{"the StatefulSet is gone", nil, druidv1alpha1.LastOperationStateSucceeded, nil, 3},
		{"the API's default of replicas", &appsv1.StatefulSet{}, druidv1alpha1.LastOperationStateSucceeded, nil, 1},
	} {
		e := &druidv1alpha1.Etcd{}
		e.Spec.Replicas, e.Annotations = 3, row.annotations
		if row.state != "" {
			e.Status.LastOperation = &druidcommon.LastOperation{State: row.state}
		}
		if got := ReconciledReplicas(e, row.sts); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
		if row.sts != nil {
			if o := OfEtcd(e, row.sts); o.Replicas != row.want {
				t.Errorf("%s: the owner has %d, want %d", row.name, o.Replicas, row.want)
			}
		}
		e.Spec.Replicas = 0 // and not to 3
		if o := OfEtcd(e, one); o.Replicas != 1 {
			t.Errorf("%s: an owner that is to stop has %d, want the member that runs", row.name, o.Replicas)
		}
	}
}
