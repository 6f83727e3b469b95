// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// knownClients returns where a client's certificate of a cluster may be, best first. server
// is the Secret that its members' certificate is from.
func knownClients(o owner.Owner, server string) []flavour.ClientSecret {
	var known []flavour.ClientSecret
	if secrets := o.Product().ClientSecrets; secrets != nil {
		known = secrets(o.Name)
	}
	if server == "" {
		return known
	}
	// Some charts have all certificates in one Secret.
	return append(known,
		flavour.ClientSecret{Secret: server, Cert: "apiserver-etcd-client.crt", Key: "apiserver-etcd-client.key"},
		flavour.ClientSecret{Secret: server, Cert: "etcd-client.crt", Key: "etcd-client.key"},
		flavour.ClientSecret{Secret: server, Cert: "root-client.crt", Key: "root-client.key"},
		flavour.ClientSecret{Secret: server, Cert: "client.crt", Key: "client.key"},
		flavour.ClientSecret{Secret: server, Cert: "client.pem", Key: "client-key.pem"},
	)
}
