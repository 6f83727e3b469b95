// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// KarmadaChart clusters are those of Karmada's chart, without its operator.
const KarmadaChart Name = "karmada-chart"

var karmadaChart = Product{
	Name:             KarmadaChart,
	Env:              []string{"KARMADA_ETCD_NAME"},
	Membership:       Membership{Manager: Unmanaged, ChartValue: "etcd.internal.replicaCount"},
	ServesKubernetes: true,
}
