// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// K0smotron clusters are those of its hosted control planes.
const K0smotron Name = "k0smotron"

var k0smotron = Product{
	Name: K0smotron,
	Controllers: []schema.GroupVersionKind{
		{Group: "k0smotron.io", Version: "v1beta1", Kind: "Cluster"},
		{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta1", Kind: "K0smotronControlPlane"},
	},
	Labels: []Label{{"app", "k0smotron"}},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "k0smotron",
		ScaleHow:   "set spec.replicas of its Cluster; k0smotron never removes members",
		ScaleInHow: byOneMember + "set spec.replicas of its Cluster",
		ReplaceHow: selfHealing,
	},
	ServesKubernetes: true,
	RevertsServices:  "k0smotron",
}
