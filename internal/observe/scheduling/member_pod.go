// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// MemberPod returns the first member's pod as it would be created now, with the fields that matter
// to its scheduling. It returns false where neither the workload nor the Etcd exists.
func MemberPod(ctx context.Context, r *observe.Reader, o owner.Owner) (*corev1.Pod, bool, error) {
	if o.StatefulSet == "" {
		return nil, false, nil
	}
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, o.Namespace, o.StatefulSet, &sts)
	if err != nil {
		return nil, false, fmt.Errorf("observe StatefulSet %s/%s: %w", o.Namespace, o.StatefulSet, err)
	}
	if found {
		return owner.PodOfStatefulSet(o, &sts), true, nil
	}
	etcd, _, err := r.Etcd(ctx, o)
	if err != nil || etcd == nil {
		return nil, false, err
	}
	return owner.PodOfEtcd(o, etcd), true, nil
}
