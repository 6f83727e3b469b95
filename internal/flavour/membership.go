// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// Manager is who adds members to an etcd cluster and removes them.
type Manager string

// The managers.
const (
	// Unmanaged members are added and removed by the person who changes the replicas.
	Unmanaged Manager = "Nobody"
	// ByOperator members are added and removed by an operator, or it rules that out.
	ByOperator Manager = "Operator"
	// ByStartScript members add and remove themselves when they start.
	ByStartScript Manager = "StartScript"
)

// Membership is who manages a cluster's members, and how to have them changed. In its
// texts NAME is the object that a person changes and NAMESPACE is where that is; the
// person fills in N.
type Membership struct {
	Manager Manager
	// ManagerName is the manager's name, as the subject of a sentence. It is empty for an
	// unmanaged cluster.
	ManagerName string
	// ScaleHow is how to change the number of members, as an instruction without a full
	// stop. For an unmanaged cluster it says what else to change then, and may be empty.
	ScaleHow string
	// ScaleInHow is how to have fewer members where ScaleHow only adds. It is empty where
	// ScaleHow does both.
	ScaleInHow string
	// ReplaceHow is how to replace a member whose data is lost.
	ReplaceHow string
	// ByPlugin is true if kubectl etcd scale and kubectl etcd member replace have the manager
	// change the members, so that a user need not follow ScaleHow and ReplaceHow.
	ByPlugin bool
}

const wipe = "delete the member's PersistentVolumeClaim and then its pod: "

// selfHealing members take their old selves out of etcd when they start empty.
const selfHealing = wipe + "it removes the old member and adds itself when it starts"

func inValues(key string) string {
	return "set " + key + " in the values of its Helm release too, or the next upgrade undoes it"
}
