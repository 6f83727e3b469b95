// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func halfRollout(f *Facts) []Finding {
	if _, found := f.probed(); found != nil {
		return found
	}
	sts := f.StatefulSet.Value
	s := sts.Status
	if s.UpdateRevision == s.CurrentRevision || s.UpdateRevision == "" {
		return nil
	}
	outdated := int(s.Replicas - s.UpdatedReplicas)
	u := sts.Spec.UpdateStrategy
	switch {
	case outdated <= 0:
		return nil
	case f.UnderWay.Value != nil:
		return []Finding{info(f.Command("status"), "%s the current template while kubectl etcd %s is under way", policy.Plural(outdated, "pod doesn't run", "pods don't run"), f.UnderWay.Value.Operation)}
	case rollouts.Holds(sts):
		if f.Installed.Err == nil && !f.Installed.Value {
			return []Finding{f.abandonedRollout(sts, outdated)}
		}
		return []Finding{info(f.Command("status"), "%s the current template: etcd-webhook holds the rollout (%s)", policy.Plural(outdated, "pod doesn't run", "pods don't run"), cmp.Or(sts.Annotations[v1alpha1.RolloutReasonAnnotation], "no reason is recorded"))}
	case u.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return []Finding{warning(f.restarting(f.restartOnDelete()), "%s the current template, and strategy OnDelete updates none", policy.Plural(outdated, "pod doesn't run", "pods don't run"))}
	case u.RollingUpdate != nil && u.RollingUpdate.Partition != nil && *u.RollingUpdate.Partition > 0:
		fix := f.kubectl("patch statefulset " + sts.Name + ` --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}'`)
		if !f.writable() {
			fix = f.change("set the partition of the rolling update to 0", "")
		}
		return []Finding{warning(f.restarting(f.whenHealthy(fix)),
			"%s the current template: partition %d holds the rollout", policy.Plural(outdated, "pod doesn't run", "pods don't run"), *u.RollingUpdate.Partition)}
	}
	return []Finding{info("", "a rollout is under way, %s to go", policy.Plural(outdated, "pod", "pods"))}
}

// restartOnDelete returns the command that continues a rollout by OnDelete. Only deletions of pods end it, so the command
// doesn't wait for its end, unless another StatefulSet of the cluster continues by itself.
func (f *Facts) restartOnDelete() string {
	waiting := *f
	if !slices.ContainsFunc(append([]*appsv1.StatefulSet{f.StatefulSet.Value}, f.Parts.Value...), func(s *appsv1.StatefulSet) bool {
		return s.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType || int(s.Status.Replicas) != owner.ReplicasOf(s)
	}) {
		waiting.Cluster.Value.Cluster.Operation = ""
	}
	return waiting.onceReady(f.Command("restart"))
}

// abandonedRollout returns the finding about a rollout that is held although etcd-webhook is not installed any
// more, so that nothing continues it.
func (f *Facts) abandonedRollout(sts *appsv1.StatefulSet, outdated int) Finding {
	fix := "kubectl etcd webhook uninstall" + f.Flags
	if patch, err := rollouts.Restored(sts, f.At); err == nil {
		fix = f.kubectl("patch statefulset " + sts.Name + " --type=merge -p '" + patch + "'")
	}
	return warning(f.restarting(f.whenHealthy(fix)), "%s the current template: etcd-webhook held the rollout (%s) and is not installed any more, so nothing continues it",
		policy.Plural(outdated, "pod doesn't run", "pods don't run"), cmp.Or(sts.Annotations[v1alpha1.RolloutReasonAnnotation], "no reason is recorded"))
}
