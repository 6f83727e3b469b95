// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// MemberClaims returns the volume claims of pods of a StatefulSet of the owner, by pod. Other pods have none of their own.
func (r *Reader) MemberClaims(ctx context.Context, o owner.Owner, pods ...string) (map[string][]*corev1.PersistentVolumeClaim, error) {
	all := map[string][]*corev1.PersistentVolumeClaim{}
	for _, pod := range pods {
		ordinal := o.Ordinal(pod)
		if ordinal < 0 || all[pod] != nil {
			continue
		}
		for _, c := range o.ClaimsOf(ordinal) {
			claim := &corev1.PersistentVolumeClaim{}
			found, err := r.Fetch(ctx, o.Namespace, c.Template+"-"+pod, claim)
			if err != nil {
				return nil, fmt.Errorf("read PersistentVolumeClaim %s-%s: %w", c.Template, pod, err)
			}
			if found {
				all[pod] = append(all[pod], claim)
			}
		}
	}
	return all, nil
}
