// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// RolloutHeld reports whether a StatefulSet has a record of a rollout that is held.
func RolloutHeld(annotations map[string]string) bool {
	_, held := annotations[v1alpha1.RolloutValueAnnotation]
	return held
}

// HoldsRollout reports whether the rollout of a StatefulSet is held: its strategy is the one of its record.
func HoldsRollout(sts *appsv1.StatefulSet) bool {
	record, ok := annotation.DecodeRolloutRecord(sts.Annotations, time.Time{})
	return ok && record.Value == annotation.RolloutValueOf(&sts.Spec.UpdateStrategy)
}

// ReleaseReason returns the reason of a user who releases the rollouts of a cluster, empty for none.
func ReleaseReason(annotations map[string]string) string {
	reason, released := strings.CutPrefix(annotations[v1alpha1.RolloutAnnotation], v1alpha1.ReleasePrefix)
	if !released {
		return ""
	}
	return strings.TrimSpace(reason)
}
