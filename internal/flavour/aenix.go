// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// Aenix clusters are EtcdClusters of the operator that cozystack's comes from.
const Aenix Name = "aenix"

var aenix = Product{
	Name:        Aenix,
	Controllers: []schema.GroupVersionKind{{Group: "etcd.aenix.io", Version: "v1alpha1", Kind: "EtcdCluster"}},
	OnlyEtcd:    true,
	Membership: Membership{
		Manager: ByOperator, ManagerName: "etcd-operator (aenix)",
		ScaleHow:   "upgrade to an etcd-operator that manages members: this one changes the StatefulSet, but not etcd's member list",
		ReplaceHow: "upgrade to an etcd-operator that manages members: this one replaces no member",
	},
	RevertsServices: "etcd-operator (aenix)",
}
