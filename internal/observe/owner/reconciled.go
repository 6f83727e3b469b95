// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
)

// ReconciledReplicas returns the replicas of an Etcd that etcd-druid has acted on, or acts on now. They
// differ from those of the spec if a user has changed only these: etcd-druid waits for its annotation,
// unless it reconciles by itself. sts is the Etcd's StatefulSet, nil for none.
//
// The observed generation is no evidence. A reconcile that began before a change may report the
// generation after it.
func ReconciledReplicas(e *druidv1alpha1.Etcd, sts *appsv1.StatefulSet) int32 {
	if sts == nil || DruidActs(e) {
		return e.Spec.Replicas
	}
	return ptr.Deref(sts.Spec.Replicas, 1)
}

// DruidActs reports whether etcd-druid reconciles the spec of an Etcd now, or as soon as it runs.
func DruidActs(e *druidv1alpha1.Etcd) bool {
	op := e.Status.LastOperation
	requested := druidv1alpha1.HasReconcileOperationAnnotation(e.ObjectMeta) && druidv1alpha1.GetSuspendEtcdSpecReconcileAnnotationKey(e.ObjectMeta) == nil
	return requested || op == nil || op.State == druidv1alpha1.LastOperationStateProcessing
}
