// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	druidcommon "github.com/gardener/etcd-druid/api/common"
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// busyUntil reads an Etcd that druid reconciles until some time.
type busyUntil struct {
	client.Reader

	clock *operatetest.HastyClock
	until time.Time
}

func (b *busyUntil) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	state := druidv1alpha1.LastOperationStateSucceeded
	if b.clock.Time.Before(b.until) {
		state = druidv1alpha1.LastOperationStateProcessing
	}
	o.(*druidv1alpha1.Etcd).Status.LastOperation = &druidcommon.LastOperation{Type: druidv1alpha1.LastOperationTypeReconcile, State: state}
	return nil
}

func TestBesideDruid(t *testing.T) {
	t.Parallel()
	forbids := func(webhook string) error {
		return fmt.Errorf("write: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "x", errors.New(webhook+" denied the request")))
	}
	const druids, never = "etcdcomponents.webhooks.druid.gardener.cloud", time.Hour
	for _, row := range []struct {
		name     string
		workload owner.WorkloadKind
		webhook  string
		busy     time.Duration // for how long druid reconciles
		denied   time.Duration // for how long the write is denied
		fails    bool
		attempts func(int) bool
	}{
		{"nothing denies", owner.DruidStatefulSet, druids, 0, 0, false, func(n int) bool { return n == 1 }},
		{"while druid reconciles", owner.DruidStatefulSet, druids, 20 * time.Second, 20 * time.Second, false, func(n int) bool { return n > 2 }},
		{"druid's webhook is behind", owner.DruidStatefulSet, druids, 0, 2 * time.Second, false, func(n int) bool { return n > 1 }},
		{"a user that is not exempt", owner.DruidStatefulSet, druids, 0, never, true, func(n int) bool { return n > 1 && n < 10 }},
		{"druid never ends", owner.DruidStatefulSet, druids, never, never, true, func(n int) bool { return n > 10 }},
		{"another webhook denies", owner.DruidStatefulSet, "policy.example.com", never, never, true, func(n int) bool { return n == 1 }},
		{"not druid's", owner.StatefulSet, druids, never, never, true, func(n int) bool { return n == 1 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := &operatetest.HastyClock{Time: time.Unix(0, 0)}
			began, attempts := c.Time, 0
			err := writeUnderProtection(t.Context(), &busyUntil{clock: c, until: began.Add(row.busy)}, owner.Owner{WorkloadKind: row.workload}, c, func() error {
				if attempts++; c.Time.Sub(began) < row.denied {
					return forbids(row.webhook)
				}
				return nil
			})
			if (err != nil) != row.fails || !row.attempts(attempts) || c.Time.Sub(began) > 2*reconcileLimit {
				t.Errorf("%v after %d attempts and %s", err, attempts, c.Time.Sub(began))
			}
		})
	}
}
