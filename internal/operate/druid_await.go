// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AwaitDruid watches until druid is done with an Etcd of that many members: it
// says so itself, every pod is Ready, and every member votes. The error says
// what was awaited last.
func (m *Members) AwaitDruid(ctx context.Context, target int) error {
	awaited := ""
	for {
		now, done, err := m.druidState(ctx, target)
		if err != nil && hopeless(err) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			now = err.Error()
		}
		if done {
			return nil
		}
		if ctx.Err() == nil {
			awaited = m.await(awaited, now)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", awaited, context.Cause(ctx))
		case <-m.Clock.After(2 * lookEvery):
		}
	}
}

// druidState is what is still missing, in words.
func (m *Members) druidState(ctx context.Context, target int) (now string, done bool, err error) {
	e, err := readEtcd(ctx, m.Kube, m.Owner)
	if err != nil {
		return "", false, err
	}
	if now := druidBusy(e); now != "" {
		return now, false, nil
	}
	var sts appsv1.StatefulSet
	if err := m.Kube.Get(ctx, client.ObjectKey{Namespace: m.Owner.Namespace, Name: m.Owner.StatefulSet}, &sts); err != nil {
		return "", false, err
	}
	m.Owner.Replicas = ptr.Deref(sts.Spec.Replicas, 1)
	status := &sts.Status
	switch {
	case int(m.Owner.Replicas) != target:
		return fmt.Sprintf("StatefulSet %s asks for %d replicas", sts.Name, m.Owner.Replicas), false, nil
	case target == 0:
		return fmt.Sprintf("%d pods are still there", status.Replicas), status.Replicas == 0 && status.ObservedGeneration >= sts.Generation, nil
	case int(status.ReadyReplicas) != target || status.ObservedGeneration < sts.Generation || int(status.UpdatedReplicas) != target:
		return fmt.Sprintf("%d of %d pods are Ready, %d have the latest template", status.ReadyReplicas, target, status.UpdatedReplicas), false, nil
	}
	return m.allVote(ctx, target)
}

// druidBusy says what druid is at, empty for nothing.
func druidBusy(e *druidv1alpha1.Etcd) string {
	op := e.Status.LastOperation
	switch {
	case op != nil && op.State == druidv1alpha1.LastOperationStateError:
		var said []string
		for _, last := range e.Status.LastErrors {
			said = append(said, last.Description)
		}
		return fmt.Sprintf("etcd-druid fails: %s %s", op.Description, strings.Join(said, "; "))
	case druidv1alpha1.HasReconcileOperationAnnotation(e.ObjectMeta), op == nil, op.State != druidv1alpha1.LastOperationStateSucceeded,
		ptr.Deref(e.Status.ObservedGeneration, 0) != e.Generation:
		return "etcd-druid has not finished its reconcile"
	}
	return ""
}

func (m *Members) allVote(ctx context.Context, target int) (now string, done bool, err error) {
	s := &sight{pods: map[string]*corev1.Pod{}}
	if err := m.survey(ctx, s); err != nil {
		return "", false, err
	}
	voters, healthy := 0, 0
	for _, p := range Peers(m.Owner, s.survey) {
		if !p.Learner {
			voters++
		}
		if !p.Learner && p.Healthy {
			healthy++
		}
	}
	return fmt.Sprintf("%d of %d members vote, %d are healthy", voters, target, healthy), voters == target && healthy == target, nil
}
