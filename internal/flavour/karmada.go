// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// Karmada clusters are those of a Karmada that its operator reconciles.
const Karmada Name = "karmada"

var karmada = Product{
	Name:        Karmada,
	Controllers: []schema.GroupVersionKind{{Group: "operator.karmada.io", Version: "v1alpha1", Kind: "Karmada"}},
	Labels:      []Label{{"app.kubernetes.io/managed-by", "karmada-operator"}},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "karmada-operator",
		ScaleHow:   "set spec.components.etcd.local.replicas of the Karmada; its operator changes the StatefulSet, but not etcd's member list",
		ScaleInHow: byOneMember + "set spec.components.etcd.local.replicas of the Karmada",
		ReplaceHow: "restore the member's data, because the operator replaces no member",
	},
	ServesKubernetes: true,
	RevertsServices:  "karmada-operator",
}
