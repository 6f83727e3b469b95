// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// EtcdOperator clusters are EtcdClusters of the etcd project's own operator.
const EtcdOperator Name = "etcd-operator"

var etcdOperator = Product{
	Name:        EtcdOperator,
	Controllers: []schema.GroupVersionKind{{Group: "operator.etcd.io", Version: "v1alpha1", Kind: "EtcdCluster"}},
	OnlyEtcd:    true,
	Membership: Membership{
		Manager: ByOperator, ManagerName: "etcd-operator", RemovesMembers: true,
		ScaleHow:   `kubectl patch etcdclusters.operator.etcd.io NAME -n NAMESPACE --type merge -p '{"spec":{"size":N}}'`,
		ReplaceHow: "scale it in until the lost member is removed, and then out again: the operator replaces no member by itself",
	},
	ClientSecrets: func(cluster string) []ClientSecret { return []ClientSecret{tlsSecret(cluster + "-client-tls")} },
}
