// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// RolloutAnnotation on the owner of a cluster releases its rollouts. Its value is release:
// and a reason. Other values have no effect.
const (
	RolloutAnnotation = "kubectl-etcd.dev/rollout"
	// ReleasePrefix begins the value of RolloutAnnotation. Other values have no effect.
	ReleasePrefix = "release:"
)

// What this project writes on a StatefulSet whose rollout it holds. Any replica can go on
// from it. All of it is removed when the rollout is complete.
const (
	// RolloutAuthorAnnotation is the update strategy that the StatefulSet's author chose, as JSON.
	RolloutAuthorAnnotation = "kubectl-etcd.dev/rollout-author"
	// RolloutValueAnnotation is the strategy that this project set last, as partition=3 or OnDelete.
	RolloutValueAnnotation = "kubectl-etcd.dev/rollout-value"
	// RolloutSinceAnnotation is when this project set it.
	RolloutSinceAnnotation = "kubectl-etcd.dev/rollout-since"
	// RolloutReasonAnnotation is the rollout rule's reason for it (see reasons.md).
	RolloutReasonAnnotation = "kubectl-etcd.dev/rollout-reason"
	// RolloutReleaseSinceAnnotation is since when no policy holds the rollout. No pod restarts until
	// it is released.
	RolloutReleaseSinceAnnotation = "kubectl-etcd.dev/rollout-release-since"
)

// PluginFieldManager is the name of kubectl etcd in an object's managed fields and in its requests.
const PluginFieldManager = "kubectl-etcd"

// PluginReleasesFieldManager is its name in a request by which pods may restart with a template that it has not
// written. Admission judges such a request as that of any other client.
const PluginReleasesFieldManager = "kubectl-etcd-releases"
