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

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// suspendValue is the value of SuspendAnnotation on an Etcd by which a restore knows that a
// cut has set the annotation, and that it may remove it. druid ignores the value.
const suspendValue = "kubectl-etcd.dev/client-traffic"

// SuspendAnnotation is druid's annotation that stops it from writing the cluster's objects.
const SuspendAnnotation = druidv1alpha1.SuspendEtcdSpecReconcileAnnotation

// Suspended says whether etcd-druid leaves the cluster's objects as they are.
func Suspended(o observe.Owner) bool {
	_, ok := o.Annotations[SuspendAnnotation]
	return ok
}

// SuspendedByCut says whether Suspend did it.
func SuspendedByCut(o observe.Owner) bool { return o.Annotations[SuspendAnnotation] == suspendValue }

// Suspend stops etcd-druid from writing the cluster's objects, its client Service
// among them. An Etcd that somebody else suspended stays theirs.
func Suspend(ctx context.Context, kube client.Client, o observe.Owner) error {
	// What was read before somebody was asked may have been taken off since.
	etcd, err := operate.ReadEtcd(ctx, kube, o)
	if err != nil {
		return err
	}
	if _, ok := etcd.Annotations[SuspendAnnotation]; ok {
		return nil
	}
	return annotate(ctx, kube, o, suspendValue)
}

// Resume lets etcd-druid go on if Suspend stopped it; false when it didn't.
func Resume(ctx context.Context, kube client.Client, o observe.Owner) (bool, error) {
	if o.Flavour != observe.Druid {
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

// annotate writes druid's annotation and nothing else, nil to take it off: druid may
// be newer than the types that this was built with.
func annotate(ctx context.Context, kube client.Client, o observe.Owner, value any) error {
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
