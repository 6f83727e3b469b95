// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// Cozystack clusters are EtcdClusters of cozystack's operator, which creates its pods itself.
const Cozystack Name = "cozystack"

var cozystack = Product{
	Name:        Cozystack,
	Controllers: []schema.GroupVersionKind{{Group: "etcd-operator.cozystack.io", Version: "v1alpha2", Kind: "EtcdCluster"}},
	Pods: &Pods{
		ClusterLabel: "etcd-operator.cozystack.io/cluster",
		// The pods of its snapshots' Jobs have the cluster's label, too.
		Members: Label{"app.kubernetes.io/name", "etcd"},
	},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "etcd-operator", RemovesMembers: true,
		ScaleHow:   "kubectl scale etcdclusters.etcd-operator.cozystack.io NAME --replicas N -n NAMESPACE",
		ReplaceHow: "delete its EtcdMember: the operator removes the member and creates a new one",
	},
	ClientSecrets: func(cluster string) []ClientSecret {
		return []ClientSecret{tlsSecret(cluster + "-operator-client-tls")}
	},
	RevertsServices:   "etcd-operator",
	RestoresElsewhere: "etcd-operator restores into a new EtcdCluster with spec.bootstrap.restore",
}
