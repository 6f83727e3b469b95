// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// knownClient is where a distribution keeps a client's certificate.
type knownClient struct{ secret, cert, key string }

// knownClients are the places for one cluster, best first. server is the Secret
// that its members' certificate is from.
func knownClients(o observe.Owner, server string) []knownClient {
	pair := func(secret string) knownClient {
		return knownClient{secret, corev1.TLSCertKey, corev1.TLSPrivateKeyKey}
	}
	var known []knownClient
	switch o.Distribution { //nolint:exhaustive // the others have no place of their own
	case observe.DistributionKamaji: // root by its common name
		known = append(known, pair(o.Name+"-root-client-certs"), pair(o.Name+"-client-certs"))
	case observe.DistributionCozystack:
		known = append(known, pair(o.Name+"-operator-client-tls"))
	case observe.DistributionEtcdOperator:
		known = append(known, pair(o.Name+"-client-tls"))
	case observe.DistributionHyperShift:
		known = append(known, knownClient{"etcd-client-tls", "etcd-client.crt", "etcd-client.key"})
	}
	if server == "" {
		return known
	}
	// Charts that keep all of their certificates in one Secret.
	return append(known,
		knownClient{server, "apiserver-etcd-client.crt", "apiserver-etcd-client.key"},
		knownClient{server, "etcd-client.crt", "etcd-client.key"},
		knownClient{server, "root-client.crt", "root-client.key"},
		knownClient{server, "client.crt", "client.key"},
		knownClient{server, "client.pem", "client-key.pem"},
	)
}
