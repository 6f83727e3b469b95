// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestCertificatesOf: the names of a certificate matter only where members present it.
func TestCertificatesOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, peer, client, want string }{
		{"both with TLS", "https://main-3.main:2380", "https://0.0.0.0:2379", "peer certificate: main-3.main\nserving certificate: main-3.main\n"},
		{"peers without TLS", "http://main-3.main:2380", "https://0.0.0.0:2379", "serving certificate: main-3.main\n"},
		{"clients without TLS", "https://main-3.main:2380", "http://0.0.0.0:2379", "peer certificate: main-3.main\n"},
		{"clients with TLS beside localhost without", "http://main-3.main:2380", "http://127.0.0.1:2379,https://0.0.0.0:2379", "serving certificate: main-3.main\n"},
		{"neither", "http://main-3.main:2380", "http://0.0.0.0:2379", ""},
		{"a peer URL that can't be read", "https://%zz:2380", "https://0.0.0.0:2379", ""},
		{"a peer URL without a host", "https://:2380", "https://0.0.0.0:2379", ""},
		{"no peer URL", "", "https://0.0.0.0:2379", ""},
	} {
		config := etcdconf.Config{ListenClient: strings.Split(row.client, ",")}
		config.PeerTLS.Cert, config.ClientTLS.Cert = "/peer.crt", "/server.crt"
		s := &observation{configs: []etcdconf.Config{config}}
		s.Ordinals = []membership.Replica{{Pod: "main-3", URL: row.peer}}
		var got strings.Builder
		for _, c := range certificatesOf(s, 1) {
			fmt.Fprintf(&got, "%s: %s\n", c.what, strings.Join(c.hosts, ","))
		}
		if diff := cmp.Diff(row.want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}
