// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// RKE2 clusters are static pods on the server nodes of RKE2. It removes the member of a Node that is deleted, and
// adds one for a server that starts without data.
const RKE2 Name = "rke2"

var rke2 = Product{
	Name: RKE2,
	Pods: &Pods{Mirror: true, Label: Label{"component", "etcd"}, Annotation: "etcd.k3s.io/initial"},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "RKE2",
		ScaleHow:   "install rke2-server on a new node that joins the cluster, or delete a node with kubectl delete node and run rke2-uninstall.sh on it",
		ReplaceHow: "delete its node with kubectl delete node, run rke2-uninstall.sh on it, and install rke2-server again",
	},
	ServesKubernetes: true,
}
