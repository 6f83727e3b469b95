// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// Kubeadm clusters are static pods on a cluster's own control plane nodes.
const Kubeadm Name = "kubeadm"

var kubeadm = Product{
	Name: Kubeadm,
	Pods: &Pods{Mirror: true, Label: Label{"component", "etcd"}, Annotation: "kubeadm.kubernetes.io/etcd.advertise-client-urls"},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "kubeadm",
		ScaleHow:   "kubeadm join --control-plane on a new node, or kubeadm reset on a node to remove",
		ReplaceHow: "kubeadm reset on its node, and kubeadm join --control-plane again",
	},
	ServesKubernetes: true,
	Settings:         "in /etc/kubernetes/manifests/etcd.yaml, on one control plane node after the other",
}
