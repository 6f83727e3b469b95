// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// Improbable clusters are EtcdClusters of Improbable's etcd-cluster-operator, which creates a
// ReplicaSet of one pod for each member.
const Improbable Name = "improbable"

var improbable = Product{
	Name:        Improbable,
	Controllers: []schema.GroupVersionKind{{Group: "etcd.improbable.io", Version: "v1alpha1", Kind: "EtcdCluster"}},
	Pods:        &Pods{ClusterLabel: "etcd.improbable.io/cluster-name", MemberLabel: "etcd.improbable.io/peer-name"},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "etcd-cluster-operator", RemovesMembers: true,
		ScaleHow:   "kubectl scale etcdclusters.etcd.improbable.io NAME --replicas N -n NAMESPACE",
		ReplaceHow: "restore a backup into a new EtcdCluster with an EtcdRestore: the operator replaces no member",
	},
	RestoresElsewhere: "etcd-cluster-operator restores into a new EtcdCluster with an EtcdRestore",
}
