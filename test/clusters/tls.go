// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// caKey is the key of the authority in a TLS Secret.
const caKey = "ca.crt"

// secretData is the content of TLS Secrets by name.
type secretData map[string]map[string][]byte

// certificates creates the Secrets of a cluster with TLS. They are created only once. A second
// set would have other authorities, and running members would no longer trust each other.
func (l layout) certificates(now time.Time) (secretData, error) {
	if l.Flavour == Druid {
		return l.druidCertificates(now)
	}
	a, err := newAuthority(l.Full()+"-ca", now)
	if err != nil {
		return nil, err
	}
	if pack := l.product().pack; pack != nil {
		return l.packed(a, pack)
	}
	server, peer := l.Name+"-server-tls", l.Name+"-peer-tls"
	if l.Flavour == Bitnami {
		server, peer = l.Full()+"-client-crt", l.Full()+"-peer-crt"
	}
	return secretsOf(
		leaf{server, l.server(a), "etcd-server", l.serverNames()},
		leaf{peer, a, "etcd-peer", l.peerNames()},
		leaf{l.clientSecret(), a, "etcd-client", nil},
	)
}

// server returns the authority that signs the members' serving certificates.
func (l layout) server(a *authority) *authority {
	signer := *a
	if l.Certificate.Expired {
		signer.now = a.now.Add(-certificateLife - 2*time.Hour)
	}
	signer.servingOnly = l.Certificate.ServingOnly
	return &signer
}

// druidCertificates creates the Secrets to which an Etcd refers. It has three authorities, each
// of which can be replaced separately, as in Gardener.
func (l layout) druidCertificates(now time.Time) (secretData, error) {
	secrets := secretData{}
	var authorities [3]*authority
	for i, line := range []string{"client", "peer", "backup"} {
		a, err := newAuthority(fmt.Sprintf("%s-%s-ca", l.Name, line), now)
		if err != nil {
			return nil, err
		}
		authorities[i] = a
		// The Secret has only the key that the Etcd names. Without a name, druid's pods read
		// ca.crt, but its clients read bundle.crt.
		secrets[l.Name+"-"+line+"-ca"] = map[string][]byte{"bundle.crt": a.pem}
	}
	client, peer, backup := authorities[0], authorities[1], authorities[2]
	leaves, err := secretsOf(
		leaf{l.Name + "-server-tls", client, "etcd-server", l.serverNames()},
		leaf{l.clientSecret(), client, "etcd-client", nil},
		leaf{l.Name + "-peer-tls", peer, "etcd-peer", l.peerNames()},
		// Clients dial the backup leader by the host name of the etcd leader, so it needs etcd's
		// names.
		leaf{l.Name + "-backup-server-tls", backup, "etcd-backup-restore", l.serverNames()},
		leaf{l.Name + "-backup-client-tls", backup, "etcd-backup-restore-client", nil},
	)
	if err != nil {
		return nil, err
	}
	maps.Copy(secrets, leaves)
	return secrets, nil
}

// leaf is a certificate and its Secret.
type leaf struct {
	secret     string
	by         *authority
	commonName string
	names      []string
}

func secretsOf(leaves ...leaf) (secretData, error) {
	secrets := secretData{}
	for _, l := range leaves {
		pair, err := l.by.sign(l.commonName, l.names...)
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", l.secret, err)
		}
		secrets[l.secret] = map[string][]byte{
			corev1.TLSCertKey:       pair.cert,
			corev1.TLSPrivateKeyKey: pair.key,
			caKey:                   l.by.pem,
		}
	}
	return secrets, nil
}

// clientSecret returns the name of the Secret with a client's certificate and the members'
// authority.
func (l layout) clientSecret() string {
	if secret := l.product().clientSecret; secret != "" {
		return l.Name + secret
	}
	return l.Name + "-client-tls"
}

// serverNames returns the names under which a member serves clients.
func (l layout) serverNames() []string {
	if len(l.Certificate.Names) > 0 {
		return l.Certificate.Names
	}
	names := []string{"localhost", "127.0.0.1"}
	if l.Flavour == Druid {
		names = append(names, l.Name+"-local") // wrapper and backup-restore dial each other by this name
	}
	names = append(names, serviceNames(l.ClientService(), l.Namespace)...)
	return append(names, l.peerNames()...)
}

// peerNames returns the names under which members dial each other. etcd looks up the name of a
// dialing peer and compares it with these names. The wildcard of the full domain also matches
// later members.
func (l layout) peerNames() []string {
	names := serviceNames(l.PeerService(), l.Namespace)
	for _, name := range serviceNames(l.PeerService(), l.Namespace) {
		names = append(names, "*."+name)
	}
	return names
}

// serviceNames returns the names of a Service, shortest first.
func serviceNames(service, namespace string) []string {
	return []string{
		service,
		service + "." + namespace,
		service + "." + namespace + ".svc",
		service + "." + namespace + ".svc.cluster.local",
	}
}
