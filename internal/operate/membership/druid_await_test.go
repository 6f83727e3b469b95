// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"strings"
	"testing"

	druidcommon "github.com/gardener/etcd-druid/api/common"
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// idleDruid is a cluster whose druid reports that it is done, though it has not acted: a reconcile
// that had begun before took the annotation away with it.
type idleDruid struct {
	client.Client

	asks, spec int32
}

func (f idleDruid) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	switch o := o.(type) {
	case *druidv1alpha1.Etcd:
		o.Generation, o.Spec.Replicas = 2, f.spec
		o.Status.ObservedGeneration = new(int64(2))
		o.Status.LastOperation = &druidcommon.LastOperation{State: druidv1alpha1.LastOperationStateSucceeded}
	case *appsv1.StatefulSet:
		o.Spec.Replicas = new(f.asks)
	}
	return nil
}

// TestDruidNotReconciled: a lost request is repeated only by a caller that can repeat it.
func TestDruidNotReconciled(t *testing.T) {
	t.Parallel()
	m := &Members{Kube: idleDruid{asks: 1, spec: 3}, Owner: owner.Owner{Namespace: "team", Name: "main", StatefulSet: "main"}, Clock: &operatetest.HastyClock{}, Logf: func(string, ...any) {}}
	if err := m.AwaitDruid(t.Context(), 3); !errors.Is(err, errNotReconciled) {
		t.Errorf("without a change of its own it awaits: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("requested often enough")
	requests := 0
	err := m.awaitDruid(ctx, 3, func(context.Context) error {
		if requests++; requests >= 3 {
			cancel(enough)
		}
		return nil
	})
	if requests < 3 || !errors.Is(err, enough) {
		t.Errorf("requested %d times: %v", requests, err)
	}
	other := &Members{Kube: idleDruid{asks: 1, spec: 5}, Owner: m.Owner, Clock: m.Clock, Logf: m.Logf}
	if err := other.awaitDruid(t.Context(), 3, func(context.Context) error { t.Error("requested a reconcile of another number"); return nil }); !errors.Is(err, errSpecChanged) {
		t.Errorf("where another client set 5 it awaits 3: %v", err)
	}
	e, err := operate.ReadEtcd(t.Context(), m.Kube, m.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := m.reconciledSize(t.Context(), e); now != 1 || err != nil {
		t.Errorf("druid acted on %d, %v; the StatefulSet asks for 1", now, err)
	}
}

// TestDruidBusy: druid is busy until the annotation is gone. Its state after that is of a reconcile
// that is not retried.
func TestDruidBusy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		requested bool
		state     druidcommon.LastOperationState
		want      string
	}{
		{false, druidv1alpha1.LastOperationStateSucceeded, ""},
		{false, druidv1alpha1.LastOperationStateRequeue, ""},
		{false, druidv1alpha1.LastOperationStateError, ""},
		{false, druidv1alpha1.LastOperationStateProcessing, "not finished"},
		{false, "", "not finished"},
		{true, druidv1alpha1.LastOperationStateSucceeded, "not finished"},
		{true, druidv1alpha1.LastOperationStateRequeue, "not finished"},
		{true, druidv1alpha1.LastOperationStateError, "fails: no such lease"},
	} {
		e := &druidv1alpha1.Etcd{}
		if row.requested {
			e.Annotations = map[string]string{druidv1alpha1.DruidOperationAnnotation: druidv1alpha1.DruidOperationReconcile}
		}
		if row.state != "" {
			e.Status.LastOperation = &druidcommon.LastOperation{State: row.state, Description: "no such lease"}
		}
		if got := druidBusy(e); (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("requested %t, in state %q it is busy with %q, not with %q", row.requested, row.state, got, row.want)
		}
	}
}
