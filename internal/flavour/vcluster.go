// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// VCluster clusters are those of virtual clusters with an etcd of their own.
const VCluster Name = "vcluster"

var vcluster = Product{
	Name:   VCluster,
	Labels: []Label{{"app", "vcluster-etcd"}},
	Membership: Membership{
		Manager:    Unmanaged,
		ChartValue: "controlPlane.backingStore.etcd.deploy.statefulSet.highAvailability.replicas",
	},
	ServesKubernetes: true,
}
