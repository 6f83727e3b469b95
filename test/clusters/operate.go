// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reconcileLimit is the time in which druid must act on an Etcd. While it is busy with an
// earlier operation, druid only checks the annotation every fifteen seconds.
const reconcileLimit = 10 * time.Minute

// Scale sets the number of members on the cluster's owner, as kubectl scale does. It does no
// more: druid acts on it after an annotation requests a reconciliation, and without an operator,
// no one adds the members to etcd.
func (c *Cluster) Scale(ctx context.Context, size int) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, size)
	if err := c.patchOwner(ctx, patch); err != nil {
		return fmt.Errorf("scale %s to %d: %w", c, size, err)
	}
	return nil
}

// Annotate sets an annotation of the cluster's owner, or removes it if the value is nil.
func (c *Cluster) Annotate(ctx context.Context, key string, value *string) error {
	quoted, err := toJSON(map[string]*string{key: value})
	if err != nil {
		return err
	}
	if err := c.patchOwner(ctx, []byte(`{"metadata":{"annotations":`+quoted+`}}`)); err != nil {
		return fmt.Errorf("annotate %s with %s: %w", c, key, err)
	}
	return nil
}

func (c *Cluster) patchOwner(ctx context.Context, patch []byte) error {
	meta := metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Full()}
	var owner client.Object = &appsv1.StatefulSet{ObjectMeta: meta}
	if c.Flavour == Druid {
		owner = &druidv1alpha1.Etcd{ObjectMeta: meta}
	}
	return c.kube.Patch(ctx, owner, client.RawPatch(types.MergePatchType, patch), fieldOwner)
}

// Reconcile requests a reconciliation of the Etcd's spec from druid and waits for it. It does
// not wait for the members, which may have to restart: see WaitReady.
func (c *Cluster) Reconcile(ctx context.Context) error {
	before, err := c.Etcd(ctx)
	if err != nil {
		return err
	}
	value := druidv1alpha1.DruidOperationReconcile
	request := func() error { return c.Annotate(ctx, druidv1alpha1.DruidOperationAnnotation, &value) }
	if err := request(); err != nil {
		return err
	}
	return Await(ctx, reconcileLimit, fmt.Sprintf("druid to reconcile %s", c), func(ctx context.Context) (string, bool, error) {
		etcd, err := c.Etcd(ctx)
		if err != nil {
			return "", false, err
		}
		seen, op, was := lastOperation(etcd), etcd.Status.LastOperation, before.Status.LastOperation
		switch {
		case druidv1alpha1.HasReconcileOperationAnnotation(etcd.ObjectMeta):
			return seen + ", annotation still there", false, nil
		case op == nil || op.State == druidv1alpha1.LastOperationStateProcessing:
			return seen, false, nil
		case op.State != druidv1alpha1.LastOperationStateSucceeded:
			// The annotation is gone, so druid doesn't retry the operation.
			return seen + ", requested again", false, request()
		case was != nil && op.RunID == was.RunID:
			// druid writes the result of an operation before it removes the annotation. This
			// operation started before the request, and removed the request's annotation.
			return seen + ", requested again", false, request()
		}
		return seen, etcd.Status.ObservedGeneration != nil && *etcd.Status.ObservedGeneration == etcd.Generation, nil
	})
}

func lastOperation(etcd *druidv1alpha1.Etcd) string {
	if etcd.Status.LastOperation == nil {
		return "no operation of druid's yet"
	}
	op := etcd.Status.LastOperation
	return fmt.Sprintf("%s %s: %s", op.Type, op.State, op.Description)
}
