// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"encoding/json"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// suspendValue is the value of SuspendAnnotation on an Etcd by which a restore knows that a
// cut has set the annotation, and that it may remove it. druid ignores the value.
const suspendValue = "kubectl-etcd.dev/client-traffic"

// SuspendAnnotation is druid's annotation that stops it from writing the cluster's objects.
const SuspendAnnotation = druidv1alpha1.SuspendEtcdSpecReconcileAnnotation

// Suspended reports whether etcd-druid leaves the cluster's objects as they are.
func Suspended(o owner.Owner) bool {
	_, ok := o.Annotations[SuspendAnnotation]
	return ok
}

// SuspendedByCut reports whether suspend has suspended it.
func SuspendedByCut(o owner.Owner) bool { return o.Annotations[SuspendAnnotation] == suspendValue }

// suspend stops etcd-druid from writing the cluster's objects, among them its client
// Service. If another user has suspended it, that suspension stays as it is.
func suspend(ctx context.Context, kube client.Client, o owner.Owner) error {
	// The annotation may have been removed since the plan was made.
	etcd, err := operate.ReadEtcd(ctx, kube, o)
	if err != nil {
		return err
	}
	if _, ok := etcd.Annotations[SuspendAnnotation]; ok {
		return nil
	}
	return annotate(ctx, kube, o, suspendValue)
}

// Resume ends the suspension of etcd-druid by suspend, and reports whether there was one.
func Resume(ctx context.Context, kube client.Client, o owner.Owner) (bool, error) {
	if !o.IsEtcd() {
		return false, nil
	}
	etcd, err := operate.ReadEtcd(ctx, kube, o)
	if err != nil {
		return false, err
	}
	if etcd.Annotations[SuspendAnnotation] != suspendValue {
		return false, nil
	}
	return true, annotate(ctx, kube, o, nil)
}

// annotate writes druid's annotation and nothing else, or removes it for nil: druid may be
// newer than the types in this program.
func annotate(ctx context.Context, kube client.Client, o owner.Owner, value any) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": o.UID, "annotations": map[string]any{SuspendAnnotation: value},
	}})
	if err != nil {
		return err
	}
	var etcd druidv1alpha1.Etcd
	etcd.Namespace, etcd.Name = o.Namespace, o.Name
	if err := kube.Patch(ctx, &etcd, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("annotate %s with %s: %w", o, SuspendAnnotation, err)
	}
	return nil
}
