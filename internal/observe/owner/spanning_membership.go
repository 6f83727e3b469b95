// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// membershipBySets returns how the members of a cluster that spans several StatefulSets change: a
// StatefulSet is added or deleted.
func (o Owner) membershipBySets() flavour.Membership {
	return flavour.Membership{
		Manager: flavour.BySets, ManagerName: "the set of its StatefulSets (" + o.WorkloadNames() + ")",
		ScaleHow: "to add a member, add a learner with " + o.Command("member add", "--peer-urls URL") + ", create a StatefulSet that runs it " +
			"with all members in --initial-cluster, name it in the lists of the other StatefulSets, and make it a voter with " + o.Command("member promote", "MEMBER") +
			"; to remove one, " + o.removeHow(),
		ScaleInHow: o.removeHow(),
		ReplaceHow: o.stopAndRemove() +
			", delete its PersistentVolumeClaim, add a learner with " + o.Command("member add", "--peer-urls URL") +
			", scale the StatefulSet to 1 replica with --initial-cluster-state=existing, and make it a voter with " + o.Command("member promote", "MEMBER"),
	}
}

// membershipBeside returns how the members of a cluster change of which StatefulSets made some and none made
// others.
func (o Owner) membershipBeside() flavour.Membership {
	remove := "stop its pod: scale its StatefulSet or Deployment in by it, or delete it; remove the member with " +
		o.Command("member remove", "MEMBER --force") + ", and remove it from the lists of the others"
	return flavour.Membership{
		Manager: flavour.BySets, ManagerName: "the set of its workloads (" + o.WorkloadNames() + ")",
		ScaleHow: "to add a member, add a learner with " + o.Command("member add", "--peer-urls URL") + ", create a pod that runs it " +
			"with all members in --initial-cluster, name it in the lists of the others, and make it a voter with " + o.Command("member promote", "MEMBER") +
			"; to remove one, " + remove,
		ScaleInHow: remove,
		ReplaceHow: remove + ", then add it again as a learner with " + o.Command("member add", "--peer-urls URL") +
			", start its pod without its old data and with --initial-cluster-state=existing, and make it a voter with " + o.Command("member promote", "MEMBER"),
	}
}

func (o Owner) removeHow() string {
	return o.stopAndRemove() + ", delete that StatefulSet, and remove the member from the lists of the others"
}

// stopAndRemove is how a member leaves etcd that could come back with its data: only by --force.
func (o Owner) stopAndRemove() string {
	return "scale the StatefulSet of the member to 0 replicas, remove the member with " + o.Command("member remove", "MEMBER --force")
}
