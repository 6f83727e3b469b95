// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// Manager is the kind of program that adds members to an etcd cluster and removes them.
type Manager string

// The managers.
const (
	// Unmanaged members are added and removed by the user who changes the replicas.
	Unmanaged Manager = "Unmanaged"
	// ByOperator members are added and removed by an operator, or the operator doesn't allow it.
	ByOperator Manager = "Operator"
	// ByStartScript members add and remove themselves when they start.
	ByStartScript Manager = "StartScript"
	// BySets members are those of several StatefulSets: there are as many as the user has
	// created StatefulSets for.
	BySets Manager = "StatefulSets"
)

// Membership describes what manages a cluster's members, and how a user changes them. In its
// texts, NAME is the object that the user changes and NAMESPACE is its namespace. VALUES are the values of
// its chart. The user replaces N.
type Membership struct {
	Manager Manager
	// ManagerName is the manager's name, as the subject of a sentence. It is empty for an
	// unmanaged cluster.
	ManagerName string
	// ScaleHow is how to change the number of members, as an instruction without a full
	// stop. For an unmanaged cluster it is what else to change then, and may be empty.
	ScaleHow string
	// ScaleInHow is how to remove members if ScaleHow only adds them. It is empty if
	// ScaleHow does both.
	ScaleInHow string
	// ReplaceHow is how to replace a member whose data is lost.
	ReplaceHow string
	// CorrectsPeerURLs is true if the start script of a member sets its peer URLs in etcd's list to those that it
	// advertises, so that a restart of its pod corrects them.
	CorrectsPeerURLs bool
	// ChartValue is the value of its chart with the number of members. Where it is set, ScaleHow
	// is what follows the order to set it. For an unmanaged cluster the order is to set it, too, and ScaleHow is empty.
	ChartValue string
	// RemovesMembers is true if the manager removes the members of pods that it stops from etcd, or
	// may: a controller that is not known. A smaller StatefulSet is then no loss of voters.
	RemovesMembers bool
	// RemovesUnlisted is true if only hooks of its chart remove members from etcd, when the chart is applied with a
	// shorter list of members. Where another client changes the replicas, no member is removed.
	RemovesUnlisted bool
	// Unknown is true if it isn't known whether the manager changes the members at all.
	Unknown bool
	// ByPlugin is true if kubectl etcd scale and kubectl etcd member replace have the manager
	// change the members, so that a user need not follow ScaleHow and ReplaceHow.
	ByPlugin bool
	// AddsOnly is true if the manager adds the members of more replicas, and never removes a member.
	// ScaleInHow is then how to have a smaller cluster.
	AddsOnly bool
}

const wipe = "delete the member's PersistentVolumeClaim, if its data is on one, and then its pod: "

// byOneMember begins the ScaleInHow of operators that change the StatefulSet, but not etcd's member list.
const byOneMember = "have one member fewer at a time: remove the last pod's member with etcdctl member remove, and then at once "

// selfHealing is the ReplaceHow of members that remove their old member from etcd when they
// start empty.
const selfHealing = wipe + "it removes the old member and adds itself when it starts"

// StartScript returns the membership of a cluster with a command of its own that changes members. who is
// the command, and scale is how to change the number of pods. removes is true where a preStop hook
// removes the member of each pod that stops.
func StartScript(who, scale string, removes bool) Membership {
	m := Membership{
		Manager: ByStartScript, ManagerName: who, RemovesMembers: removes,
		ScaleHow: scale + ", by one member at a time, once kubectl etcd status NAME -n NAMESPACE shows that all members are healthy",
		ReplaceHow: "read in the script what it does for a pod without data. If it removes the old member and adds the new one, " +
			"delete the pod's PersistentVolumeClaim, if its data is on one, and then the pod",
	}
	if !removes {
		m.ScaleInHow = "remove the last pod's member with etcdctl member remove, and then at once: " + scale + ", if the script doesn't remove it"
	}
	return m
}

// UnreadScript returns the membership of a cluster with a script that could not be read, so that who changes
// its members is unknown. where is what runs the script, and why names it with the reason.
func UnreadScript(where, why string) Membership {
	readable := "make the script readable: its ConfigMap must exist, and you need permission to get it. Make a script that is too large shorter. Put a command that it executes into the pod's template. A command about " +
		"many clusters reads the scripts of only a few: name the cluster, as in kubectl etcd status NAME -n NAMESPACE"
	return Membership{
		Manager: ByStartScript, Unknown: true, ManagerName: "perhaps " + where + ", which can't be read (" + why + "),",
		ScaleHow: readable, ReplaceHow: readable,
	}
}
