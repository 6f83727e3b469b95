// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// errNotReconciled is that etcd-druid has nothing to do, and the number is not reached.
var errNotReconciled = errors.New("etcd-druid has not been told of the number of replicas")

// errSpecChanged is that somebody else has set another number.
var errSpecChanged = errors.New("somebody set its replicas meanwhile")

// AwaitDruid watches until druid is done with an Etcd of that many members: it
// says so itself, every pod is Ready, and every member votes. The error says
// what was awaited last. Where druid has lost what it was told, it is told again by that
// function; without one that is an error, and so is another's number.
func (m *Members) AwaitDruid(ctx context.Context, target int, reconcile func(context.Context) error) error {
	awaited := ""
	for {
		now, done, err := m.druidState(ctx, target)
		if errors.Is(err, errNotReconciled) && reconcile != nil {
			now, err = err.Error(), reconcile(ctx)
		}
		if err != nil && (permanent(err) || errors.Is(err, errNotReconciled) || errors.Is(err, errSpecChanged)) {
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
		case <-m.Clock.After(2 * pollInterval):
		}
	}
}

// druidState is what is still missing, in words.
func (m *Members) druidState(ctx context.Context, target int) (now string, done bool, err error) {
	e, err := operate.ReadEtcd(ctx, m.Kube, m.Owner)
	if err != nil {
		return "", false, err
	}
	if int(e.Spec.Replicas) != target {
		return "", false, fmt.Errorf("%w, to %d", errSpecChanged, e.Spec.Replicas)
	}
	if now := druidBusy(e); now != "" {
		return now, false, nil
	}
	// A run of druid's that had begun before takes the annotation away at its end, and may
	// say that it has observed what it never acted on: only the StatefulSet tells.
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	if err != nil {
		return "", false, err
	}
	m.Owner.Replicas = ptr.Deref(sts.Spec.Replicas, 1)
	status := &sts.Status
	switch {
	case int(m.Owner.Replicas) != target:
		return "", false, fmt.Errorf("StatefulSet %s asks for %d replicas: %w", sts.Name, m.Owner.Replicas, errNotReconciled)
	case target == 0:
		return fmt.Sprintf("%d pods are still there", status.Replicas), status.Replicas == 0 && status.ObservedGeneration >= sts.Generation, nil
	case int(status.ReadyReplicas) != target || status.ObservedGeneration < sts.Generation || int(status.UpdatedReplicas) != target:
		return fmt.Sprintf("%d of %d pods are Ready, %d have the latest template", status.ReadyReplicas, target, status.UpdatedReplicas), false, nil
	}
	return m.allVote(ctx, target)
}

// druidBusy says what druid is at, empty for nothing. It takes the annotation away when it
// has done what it was told; a second run that had begun before it saw that may stop in the
// middle (a new member has not told of its peers' TLS yet), and with the annotation gone it
// is not retried: the state stays Requeue or Error for nothing.
func druidBusy(e *druidv1alpha1.Etcd) string {
	op, requested := e.Status.LastOperation, druidv1alpha1.HasReconcileOperationAnnotation(e.ObjectMeta)
	switch {
	case requested && op != nil && op.State == druidv1alpha1.LastOperationStateError:
		var descriptions []string
		for _, last := range e.Status.LastErrors {
			descriptions = append(descriptions, last.Description)
		}
		return fmt.Sprintf("etcd-druid fails: %s %s", op.Description, strings.Join(descriptions, "; "))
	case requested, op == nil, op.State == druidv1alpha1.LastOperationStateProcessing:
		return "etcd-druid has not finished its reconcile"
	}
	return ""
}

func (m *Members) allVote(ctx context.Context, target int) (now string, done bool, err error) {
	s := &observation{pods: map[string]*corev1.Pod{}}
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
