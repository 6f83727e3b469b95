// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// refuse returns why the pod of a step is not evicted although the rule allows it, as kubectl etcd restart refuses it. It
// reports false for a pod that may be evicted.
func (c *Reconciler) refuse(ctx context.Context, s *state, step restart.Step, pod *corev1.Pod) (policy.Note, bool, error) {
	if why := s.owner.CostsMember(); why != "" {
		return policy.NewNote(restart.RestartCostsMember, "%s", why), true, nil
	}
	ends, err := rollouts.DataEnds(ctx, c.Reader, pod)
	if err != nil || ends {
		return policy.NewNote(restart.DataEndsWithPod, "the data of %s may end with its pod: it is on no volume that outlives the pod, or its claim is missing, is being deleted or has lost its volume", step.Pod), ends, err
	}
	if step.Reason != policy.CuresMember {
		return policy.Note{}, false, nil
	}
	older, err := c.olderVolume(ctx, s, step.Pod)
	return policy.NewNote(restart.MayHaveOlderData, "the volume of %s is older than those of all members that are healthy, so it may have the only data from before they began, and etcd must show whether it has; to restart it after a check of etcd: kubectl etcd restart %s --member %s",
		step.Pod, s.Facts.Cluster.TargetArgs(), step.Pod), older, err
}

// olderVolume reports whether the volume of a broken member is older than that of each member that is healthy. Only etcd
// shows whether they began again without its data, and this controller asks no etcd.
func (c *Reconciler) olderVolume(ctx context.Context, s *state, broken string) (bool, error) {
	var healthy []string
	for _, m := range s.facts().Members {
		if m.Pod != broken && m.Exists && m.Trouble == "" {
			healthy = append(healthy, m.Pod)
		}
	}
	v, err := c.Reader.MemberVolumes(ctx, s.owner, append(healthy, broken)...)
	return err == nil && v.Older(broken, healthy), err
}
