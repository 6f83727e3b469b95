// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// recordSize writes on the StatefulSet how many members etcd has, after members were
// removed: until then the controller of budgets keeps the quorum of the largest size. A
// number that is there from before is also brought up to date.
func (m *Members) recordSize(ctx context.Context, j *Change) error {
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	if err != nil {
		return err
	}
	if j.Operation != membership.ScaleIn && !owner.HasSize(sts.Annotations) {
		return nil
	}
	n := m.count(ctx)
	if n == 0 {
		return fmt.Errorf("read the member list of %s", m.Owner)
	}
	return m.Kube.Patch(ctx, sizedCopy(sts, n, m.Clock.Now()), client.MergeFrom(sts))
}

// sizedCopy returns a copy of a StatefulSet with its size.
func sizedCopy(sts *appsv1.StatefulSet, n int, now time.Time) *appsv1.StatefulSet {
	after := sts.DeepCopy()
	after.Annotations = owner.WithSize(after.Annotations, n, now)
	return after
}

// setReplicas sets the replicas, and in the same write declares that etcd has so many members: a
// member is added to etcd before its replica, and removed before it. Without that, admission
// refuses fewer replicas than a quorum of the voters that there were.
func (m *Members) setReplicas(sts *appsv1.StatefulSet, n int) {
	sts.Spec.Replicas = new(int32(n)) //nolint:gosec // a number of members
	sts.Annotations = owner.WithSize(sts.Annotations, n, m.Clock.Now())
}
