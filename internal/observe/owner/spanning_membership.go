// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"slices"

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
			", " + o.scaleOut() + " with --initial-cluster-state=existing, and make it a voter with " + o.Command("member promote", "MEMBER"),
	}
}

// membershipBeside returns how the members of a cluster change of which StatefulSets made some and none made
// others.
func (o Owner) membershipBeside() flavour.Membership {
	remove := "stop its pod: scale its StatefulSet in by one replica, which stops the last pod of it, scale its Deployment to 0, or delete a pod that no workload created; remove the member with " +
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
	remove := ", delete that StatefulSet, and remove the member from the lists of the others"
	if o.severalEach() {
		remove = ", delete that StatefulSet if it has no replica left, and remove the member from the lists of the others"
	}
	return o.stopAndRemove() + remove
}

// stopAndRemove returns how a member leaves etcd that could come back with its data: only by --force. A StatefulSet of
// several members stops its last pod, and no other one alone.
func (o Owner) stopAndRemove() string {
	stop := "scale the StatefulSet of the member to 0 replicas"
	if o.severalEach() {
		stop = "scale the StatefulSet of the member in by one replica, which stops the last pod of it"
	}
	return stop + ", remove the member with " + o.Command("member remove", "MEMBER --force")
}

// scaleOut returns how the pod of that member starts again.
func (o Owner) scaleOut() string {
	if o.severalEach() {
		return "scale the StatefulSet out again"
	}
	return "scale the StatefulSet to 1 replica"
}

// severalEach reports whether one of the StatefulSets has several members.
func (o Owner) severalEach() bool {
	return slices.ContainsFunc(o.Workloads, func(w Workload) bool { return w.Replicas > 1 })
}
