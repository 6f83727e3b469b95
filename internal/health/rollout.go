// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// restartsSeveral reports a StatefulSet by whose strategy a rollout restarts more members at once than may be down.
// While etcd-webhook holds a rollout, the strategy of the author counts, which it restores at the end.
func restartsSeveral(f *Facts) []Finding {
	if _, found := f.probed(); found != nil {
		return found
	}
	sts := f.StatefulSet.Value
	author, held := sts.Spec.UpdateStrategy, rollouts.Holds(sts)
	if record, recorded := annotation.DecodeRolloutRecord(sts.Annotations, f.At); held && recorded {
		author = record.Author
	}
	n, replicas := f.voters().total, f.Size()
	if sts.Spec.Replicas != nil {
		replicas = int(*sts.Spec.Replicas)
	}
	spare := max(0, n-f.counted().gone()-policy.Quorum(n))
	atOnce := annotation.RestartsAtOnce(&author, replicas)
	if atOnce <= 1 || atOnce <= spare {
		return nil
	}
	report := warning
	if p := f.Policy.Value.Policy; held || p != nil && f.Installed.Value && p.Spec.GuardRollouts() == v1alpha1.ModeEnforce {
		report = info // the rollout rule restarts one at a time
	}
	return []Finding{report(f.restartOne(sts, held), "maxUnavailable %s lets a rollout restart %d of %s at once, and only %d may be down: the quorum is %d",
		author.RollingUpdate.MaxUnavailable.String(), atOnce, policy.Count(n, "member"), spare, policy.Quorum(n))}
}

// restartOne returns how to have a rollout restart one member at a time.
func (f *Facts) restartOne(sts *appsv1.StatefulSet, held bool) string {
	fix := f.kubectl("patch statefulset " + sts.Name + ` --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}'`)
	if !f.writable() {
		fix = f.change("set maxUnavailable of the rolling update to 1", "")
	}
	if held {
		return "once the rollout that etcd-webhook holds is complete, " + fix
	}
	return fix
}
