// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestKnownClients has the locations of client certificates for each product, the best first.
func TestKnownClients(t *testing.T) {
	t.Parallel()
	tlsPair := func(secret string) flavour.ClientSecret {
		return flavour.ClientSecret{Secret: secret, Cert: "tls.crt", Key: "tls.key"}
	}
	charts := []flavour.ClientSecret{
		{Secret: "server", Cert: "apiserver-etcd-client.crt", Key: "apiserver-etcd-client.key"},
		{Secret: "server", Cert: "etcd-client.crt", Key: "etcd-client.key"},
		{Secret: "server", Cert: "root-client.crt", Key: "root-client.key"},
		{Secret: "server", Cert: "client.crt", Key: "client.key"},
		{Secret: "server", Cert: "client.pem", Key: "client-key.pem"},
	}
	for _, row := range []struct {
		product flavour.Name
		server  string
		want    []flavour.ClientSecret
	}{
		{flavour.Kamaji, "", []flavour.ClientSecret{tlsPair("main-root-client-certs"), tlsPair("main-client-certs")}},
		{flavour.Cozystack, "", []flavour.ClientSecret{tlsPair("main-operator-client-tls")}},
		{flavour.EtcdOperator, "", []flavour.ClientSecret{tlsPair("main-client-tls")}},
		{flavour.HyperShift, "", []flavour.ClientSecret{{Secret: "etcd-client-tls", Cert: "etcd-client.crt", Key: "etcd-client.key"}}},
		{flavour.Druid, "", nil},
		{flavour.Aenix, "", nil},
		{flavour.Bitnami, "", nil},
		{flavour.Kubeadm, "", nil},
		{flavour.Plain, "server", charts},
		{flavour.Kamaji, "server", append([]flavour.ClientSecret{tlsPair("main-root-client-certs"), tlsPair("main-client-certs")}, charts...)},
	} {
		owner := owner.Owner{Name: "main", Distribution: row.product}
		if got := knownClients(owner, row.server); !slices.Equal(got, row.want) {
			t.Errorf("%q with server Secret %q: %v, want %v", row.product, row.server, got, row.want)
		}
	}
}
