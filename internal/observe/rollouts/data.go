// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// addData adds which members that are not ready may lose their data with the pod. With a quorum, the
// others have all that was acknowledged, and nothing is read.
func addData(ctx context.Context, r *observe.Reader, o *State) error {
	if o.Facts.Cluster.ReadyVoters() >= policy.Quorum(o.Facts.Cluster.Size) {
		return nil
	}
	for i := range o.Facts.Sets {
		pods := o.Facts.Sets[i].Pods
		for at := range pods {
			pod := o.Pods[pods[at].Pod]
			if pod == nil || pods[at].PodReady {
				continue
			}
			var err error
			if pods[at].DataEnds, err = DataEnds(ctx, r, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// DataEnds reports whether the data of a pod's member may end with the pod: it is on no claim that outlives the pod, or on
// one that is missing, is being deleted or has lost its volume.
func DataEnds(ctx context.Context, r *observe.Reader, pod *corev1.Pod) (bool, error) {
	volumes, kept := etcdconf.DataVolumes(pod)
	if !kept {
		return true, nil
	}
	for _, v := range volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		var claim corev1.PersistentVolumeClaim
		found, err := r.Fetch(ctx, pod.Namespace, v.PersistentVolumeClaim.ClaimName, &claim)
		if err != nil {
			return false, fmt.Errorf("observe PersistentVolumeClaim %s/%s: %w", pod.Namespace, v.PersistentVolumeClaim.ClaimName, err)
		}
		if !found || claim.DeletionTimestamp != nil || claim.Status.Phase == corev1.ClaimLost {
			return true, nil
		}
	}
	return false, nil
}
