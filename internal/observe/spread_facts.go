// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// maxMembers bounds the volumes that are looked up for one pod, whatever number
// stands in its name or in replicas. etcd advises 7 members at most.
const maxMembers = 32

// SpreadFactsOf gathers what the spread rule must know of a pod that is about
// to be made for a member. zoneKey is the node label that names the zone.
func (r *Reader) SpreadFactsOf(ctx context.Context, o Owner, pod *corev1.Pod, zoneKey string) (policy.SpreadFacts, error) {
	ordinal := o.Ordinal(pod.Name)
	size := int(o.Replicas)
	if ordinal < maxMembers {
		// A pod beyond the replicas that the cache shows is proof of more.
		size = max(size, ordinal+1)
	}
	nodes, err := r.eligible(ctx, pod)
	if err != nil {
		return policy.SpreadFacts{}, err
	}
	volumes, err := r.volumes(ctx, o, pod, min(size, maxMembers), nodes)
	if err != nil {
		return policy.SpreadFacts{}, err
	}
	return policy.SpreadFacts{
		Size:    size,
		Ordinal: ordinal,
		Places:  places(nodes, zoneKey),
		Volumes: volumes,
		OwnKeys: ownKeys(pod, o),
	}, nil
}
