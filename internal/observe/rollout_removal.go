// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// Removal reads what decides whether the rollout of a StatefulSet is released when etcd-webhook is
// removed. What can't be read is a fact of it.
func (r *Reader) Removal(ctx context.Context, sts *appsv1.StatefulSet) rollout.Removal {
	out := rollout.Removal{Stopped: replicasOf(sts) == 0}
	if out.Stopped {
		return out
	}
	o, found, err := r.OwnerOfStatefulSet(ctx, sts)
	if err == nil && found {
		out.InParts = o.InParts()
		out.Cluster, err = r.Cluster(ctx, o)
	}
	if err == nil && found && !out.Cluster.Single() {
		out.PeersMove, err = r.anyPeersMove(ctx, o, sts)
	}
	if err != nil {
		out.Unread = err.Error()
		return out
	}
	out.NotEtcd = !found
	return out
}
