// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import "strings"

// Manager is who adds members to an etcd cluster and removes them.
type Manager string

// The managers.
const (
	// ByNobody: whoever changes the replicas must change etcd's members himself.
	ByNobody Manager = "Nobody"
	// ByOperator: an operator does it, or rules it out.
	ByOperator Manager = "Operator"
	// ByStartScript: the members do it themselves when they start.
	ByStartScript Manager = "StartScript"
)

// Membership is who manages a cluster's members, and the way to have it done.
type Membership struct {
	Manager Manager
	// Who is its name, as a subject of a sentence; empty for nobody.
	Who string
	// Way is how to change the number of members, as an order to a person
	// without a full stop. For nobody it says what else to change then, and
	// may be empty.
	Way string
	// Fewer is how to have fewer members where Way only adds, like Way; empty
	// where Way does both.
	Fewer string
	// Replace is how to replace a member whose data is lost, like Way.
	Replace string
}

// ReadOnly says that the members are pods without a StatefulSet: nothing here
// may change how many there are.
func (o Owner) ReadOnly() bool { return o.Flavour == Pods }

const wipe = "delete the member's PersistentVolumeClaim and then its pod: "

// selfHealing members take their old selves out of etcd when they start empty.
const selfHealing = wipe + "it removes the old member and adds itself when it starts"

// memberships has every product's. NAME is the object that a person changes,
// NAMESPACE where it is; N is for the person to fill in.
var memberships = map[Distribution]Membership{
	DistributionDruid: {
		Manager: ByOperator, Who: "etcd-druid",
		Way:     "kubectl scale etcds.druid.gardener.cloud NAME --replicas N -n NAMESPACE",
		Fewer:   "restore a backup into a new Etcd of that size: etcd-druid does not scale in",
		Replace: wipe + "its sidecar removes the old member and adds the new one",
	},
	DistributionEtcdOperator: {
		Manager: ByOperator, Who: "etcd-operator",
		Way:     `kubectl patch etcdclusters.operator.etcd.io NAME -n NAMESPACE --type merge -p '{"spec":{"size":N}}'`,
		Replace: "scale it in so that the lost member goes, and out again: the operator replaces no member by itself",
	},
	DistributionCozystack: {
		Manager: ByOperator, Who: "etcd-operator",
		Way:     "kubectl scale etcdclusters.etcd-operator.cozystack.io NAME --replicas N -n NAMESPACE",
		Replace: "delete its EtcdMember: the operator removes the member and makes another",
	},
	DistributionAenix: {
		Manager: ByOperator, Who: "etcd-operator (aenix)",
		Way:     "upgrade to an etcd-operator that manages members: this one changes the StatefulSet and leaves etcd's members as they are",
		Replace: "upgrade to an etcd-operator that manages members: this one replaces none",
	},
	DistributionHyperShift: {
		Manager: ByOperator, Who: "HyperShift",
		Way:     "choose controllerAvailabilityPolicy when the HostedCluster is made: SingleReplica has one member, HighlyAvailable three",
		Replace: selfHealing,
	},
	DistributionK0smotron: {
		Manager: ByOperator, Who: "k0smotron",
		Way:     "set spec.replicas of its Cluster; k0smotron never takes members away",
		Replace: selfHealing,
	},
	DistributionKarmada: {
		Manager: ByOperator, Who: "karmada-operator",
		Way:     "set spec.components.etcd.local.replicas of the Karmada; its operator writes the StatefulSet anew and leaves etcd's members as they are",
		Replace: "restore the member's data: the operator replaces none",
	},
	DistributionBitnami: {
		Manager: ByStartScript, Who: "the members' start script",
		Way:     "helm upgrade --reuse-values --set replicaCount=N, which takes members out of etcd before it scales in",
		Replace: selfHealing,
	},
	DistributionKubeadm: {
		Manager: ByOperator, Who: "kubeadm",
		Way:     "kubeadm join --control-plane on a new node, or kubeadm reset on one that goes",
		Replace: "kubeadm reset on its node, and kubeadm join --control-plane again",
	},
	DistributionPods: {
		Manager: ByOperator, Who: "whoever made the pods",
		Way:     "ask whoever made the pods: no StatefulSet keeps them",
		Replace: "ask whoever made the pods: no StatefulSet keeps them",
	},
	DistributionKamaji:       {Manager: ByNobody, Way: inValues("replicas")},
	DistributionKarmadaChart: {Manager: ByNobody, Way: inValues("etcd.internal.replicaCount")},
	DistributionVCluster:     {Manager: ByNobody, Way: inValues("controlPlane.backingStore.etcd.deploy.statefulSet.highAvailability.replicas")},
	DistributionPlain:        {Manager: ByNobody},
}

func inValues(key string) string {
	return "set " + key + " in the values of its Helm release too, or the next upgrade undoes it"
}

// Membership says who manages the members.
func (o Owner) Membership() Membership {
	m, known := memberships[o.Distribution]
	if !known {
		m = memberships[DistributionPlain]
	}
	if o.Controller != nil && m.Manager == ByNobody {
		who := o.Controller.Kind + " " + o.Controller.Name
		return Membership{Manager: ByOperator, Who: who, Way: "ask " + who + ", which made the StatefulSet and may write it back", Replace: "ask " + who}
	}
	name := o.Name
	if o.Controller != nil && m.Manager == ByOperator && o.Flavour == StatefulSet {
		name = o.Controller.Name
	}
	fill := strings.NewReplacer("NAMESPACE", o.Namespace, "NAME", name)
	m.Way, m.Replace = fill.Replace(m.Way), fill.Replace(m.Replace)
	return m
}
