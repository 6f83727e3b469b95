// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// HyperShift clusters are those of hosted control planes of OpenShift.
const HyperShift Name = "hypershift"

var hyperShift = Product{
	Name:        HyperShift,
	Controllers: []schema.GroupVersionKind{{Group: "hypershift.openshift.io", Version: "v1beta1", Kind: "HostedControlPlane"}},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "HyperShift",
		ScaleHow:   "set controllerAvailabilityPolicy when you create the HostedCluster: SingleReplica has one member, HighlyAvailable three",
		ReplaceHow: selfHealing,
	},
	ClientSecrets: func(string) []ClientSecret {
		return []ClientSecret{{Secret: "etcd-client-tls", Cert: "etcd-client.crt", Key: "etcd-client.key"}} //nolint:gosec // names of files
	},
	ServesKubernetes: true,
}
