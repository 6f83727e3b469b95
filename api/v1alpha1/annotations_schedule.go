// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations that kubectl etcd snapshot schedule writes on its CronJob. kubectl etcd snapshot list reads
// them.
const (
	// ScheduleURLAnnotation is the URL of the folder with the snapshots.
	ScheduleURLAnnotation = "kubectl-etcd.dev/snapshot-url"
	// ScheduleEveryAnnotation is the time between two snapshots, such as "1h0m0s".
	ScheduleEveryAnnotation = "kubectl-etcd.dev/snapshot-every"
	// ScheduleKeepAnnotation is the number of snapshots to keep.
	ScheduleKeepAnnotation = "kubectl-etcd.dev/snapshot-keep"
	// ScheduleHashAnnotation is a hash of what the plugin wanted of the CronJob when it wrote it.
	ScheduleHashAnnotation = "kubectl-etcd.dev/snapshot-schedule-hash"
	// ScheduleFirstAnnotation is the Job that takes the first snapshot, until that is stored.
	ScheduleFirstAnnotation = "kubectl-etcd.dev/snapshot-first-job"
)
