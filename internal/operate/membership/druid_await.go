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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
)

// errNotReconciled is returned where etcd-druid is idle, and the number of members is not reached.
var errNotReconciled = errors.New("etcd-druid has not reconciled the number of replicas")

// errSpecChanged is returned where another client has set another number.
var errSpecChanged = errors.New("another client has changed its replicas")

// AwaitDruid waits until druid is done with a scale that an earlier command requested. It writes nothing: a request for a
// reconcile that druid has lost is an error.
func (m *Members) AwaitDruid(ctx context.Context, target int) error {
	return m.awaitDruid(ctx, target, nil)
}

// awaitDruid waits until druid is done with an Etcd of so many members: druid reports it, every pod is
// Ready, and every member votes. The error has what was awaited last. Where druid has lost the request
// for a reconcile, reconcile repeats it; without that function it is an error. Another number of
// replicas is an error too.
func (m *Members) awaitDruid(ctx context.Context, target int, reconcile func(context.Context) error) error {
	var w operate.Waiter
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
			w.Await(m.Logf, "%s", now)
		}
		if err := w.Pause(ctx, m.Clock, 2*pollInterval); err != nil {
			return err
		}
	}
}

// druidState returns what is still missing, as text.
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
	// A reconcile that began earlier removes the annotation at its end, and may report a generation
	// that it never acted on. Only the StatefulSet shows what druid has done.
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	if err != nil {
		return "", false, err
	}
	m.Owner.Replicas = ptr.Deref(sts.Spec.Replicas, 1)
	status := &sts.Status
	switch {
	case int(m.Owner.Replicas) != target:
		return "", false, fmt.Errorf("StatefulSet %s has %d replicas: %w", sts.Name, m.Owner.Replicas, errNotReconciled)
	case target == 0:
		return fmt.Sprintf("%d pods are still there", status.Replicas), status.Replicas == 0 && status.ObservedGeneration >= sts.Generation, nil
	case int(status.ReadyReplicas) != target || status.ObservedGeneration < sts.Generation || int(status.UpdatedReplicas) != target:
		return fmt.Sprintf("%d of %d pods are Ready, %d have the latest template", status.ReadyReplicas, target, status.UpdatedReplicas), false, nil
	}
	return m.allVote(ctx, target)
}

// druidBusy returns what druid is doing, empty for nothing. druid removes the annotation at the end of
// the reconcile. A second reconcile that began before that may stop halfway (a new member has not
// reported its peer TLS yet), and is not retried without the annotation: the state Requeue or Error
// then means nothing.
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
	for _, p := range memberlist.Peers(m.Owner, s.survey) {
		if !p.Learner {
			voters++
		}
		if !p.Learner && p.Healthy {
			healthy++
		}
	}
	return fmt.Sprintf("%d of %d members vote, %d are healthy", voters, target, healthy), voters == target && healthy == target, nil
}
