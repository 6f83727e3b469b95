// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// Kamaji clusters are those of the chart kamaji-etcd.
const Kamaji Name = "kamaji"

var kamaji = Product{
	Name:       Kamaji,
	Labels:     []Label{{"app.kubernetes.io/name", "kamaji-etcd"}, {"application", "kamaji-etcd"}},
	Membership: Membership{Manager: Unmanaged, ChartValue: "replicas"},
	ClientSecrets: func(cluster string) []ClientSecret { // the first is root's, by its common name
		return []ClientSecret{tlsSecret(cluster + "-root-client-certs"), tlsSecret(cluster + "-client-certs")}
	},
	ServesKubernetes: true,
}
