// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TryDruidScale lets the API server try the write of ScaleDruid. The error may be a denial by admission.
func (m *Members) TryDruidScale(ctx context.Context, target int) error {
	return m.setDruidReplicas(ctx, target, client.DryRunAll)
}

// ScaleDruid sets an Etcd's replicas, as kubectl scale does, and requests a reconcile from druid. Then it calls
// requested, and waits until druid has completed the scale, unless requested returns false. The error may be a denial by
// admission.
func (m *Members) ScaleDruid(ctx context.Context, target int, requested func(context.Context) (wait bool)) error {
	if err := m.checkLock(); err != nil {
		return err
	}
	if err := m.setDruidReplicas(ctx, target); err != nil {
		return err
	}
	m.Logf("set the replicas of %s to %d", m.Owner, target)
	if err := m.reconcileDruid(ctx); err != nil {
		return err
	}
	if !requested(ctx) {
		return nil
	}
	return m.awaitDruid(ctx, target, m.reconcileDruid)
}

func (m *Members) setDruidReplicas(ctx context.Context, target int, options ...client.SubResourcePatchOption) error {
	e := &druidv1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: m.Owner.Namespace, Name: m.Owner.Name}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, target))
	options = append(options, client.WithSubResourceBody(&autoscalingv1.Scale{}))
	if err := m.Kube.SubResource("scale").Patch(ctx, e, patch, options...); err != nil {
		return fmt.Errorf("set the replicas of %s to %d: %w", m.Owner, target, err)
	}
	return nil
}

// reconcileDruid requests a reconcile of an Etcd from etcd-druid.
func (m *Members) reconcileDruid(ctx context.Context) error {
	e := &druidv1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: m.Owner.Namespace, Name: m.Owner.Name}}
	annotate := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, druidv1alpha1.DruidOperationAnnotation, druidv1alpha1.DruidOperationReconcile)
	if err := m.Kube.Patch(ctx, e, client.RawPatch(types.MergePatchType, annotate)); err != nil {
		return fmt.Errorf("request a reconcile of %s: %w", m.Owner, err)
	}
	m.Logf("requested a reconcile from etcd-druid")
	return nil
}

// awaitStep returns the step of a plan for what AwaitDruid waits for.
func awaitStep(target int) string {
	if target == 0 {
		return "watch until no pod is left"
	}
	return "watch until every member votes and every pod is Ready"
}
