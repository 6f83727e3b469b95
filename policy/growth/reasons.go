// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// otherVolumes is the way of volumes that can't grow.
const otherVolumes = "Otherwise create a cluster with larger volumes, and restore a snapshot into it: kubectl etcd snapshot save NAME FILE, then kubectl etcd snapshot restore FILE NEW."

// The reasons of verdicts and steps.
var (
	NoClaim = reasons.Add("NoClaim",
		"The data of a member is not in a volume claim: in an emptyDir, a hostPath, or the container's own file system. Its size is that of the node's disk, or a limit in the pod template.",
		"Change the limit in the pod template, if there is one. "+otherVolumes)
	ClaimUnusable = reasons.Add("ClaimUnusable",
		"The volume claim of a member does not exist, is being deleted, or has no volume, so nothing can grow.",
		"Repair or replace the member first: kubectl etcd diagnose NAME shows what is wrong.")
	SmallerSize = reasons.Add("SmallerSize",
		"A volume claim requests more than the size, or its volume has more. Volumes never shrink.",
		"Use a size that is not smaller than any volume of the cluster.")
	SizeRequested = reasons.Add("SizeRequested",
		"The volume claim requests the size already.",
		policy.NoAction)
	NotExpandable = reasons.Add("NotExpandable",
		"The storage class of a volume claim does not allow expansion, so the API server refuses a larger request.",
		"If the storage driver can expand volumes, set allowVolumeExpansion: true in the StorageClass. "+otherVolumes)
	Expandable = reasons.Add("Expandable",
		"The storage class of the volume claim allows expansion.",
		policy.NoAction)
	ResizeFailed = reasons.Add("ResizeFailed",
		"The storage driver or the node could not grow the volume of a member. No other volume is changed. The message has what they report.",
		"Repair what the message names. The driver tries again by itself. When the volume has grown, run the same command again.")
	VolumeGrowing = reasons.Add("VolumeGrowing",
		"A volume claim requests the size, and its volume or its file system does not have it yet. No other claim is changed before that.",
		"Wait. If it doesn't end, kubectl describe pvc shows what the storage driver reports.")
	RestartToGrow = reasons.Add("RestartToGrow",
		"The volume of a member has grown, and its file system grows only when the volume is mounted again, in a new pod.",
		policy.NoAction)
	VolumesComplete = reasons.Add("VolumesComplete",
		"The volume of every member has the size.",
		policy.NoAction)
)
