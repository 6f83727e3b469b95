// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"
	"slices"
)

// Product is whose manifests a StatefulSet copies, for what they do otherwise than
// all others: names, labels, flags and certificates. What made them isn't there.
type Product string

// The products that can be copied.
const (
	// Kamaji keeps its certificates in one Secret under keys of its own, and knows
	// its user by the common name of the client's certificate, which is in another.
	Kamaji Product = "kamaji"
	// Karmada has one member, whose name isn't the name of its pod, other names for
	// flags, and the client Service as the URL that it advertises.
	Karmada Product = "karmada"
	// VCluster has no ports in its pods, and all certificates in one Secret.
	VCluster Product = "vcluster"
	// ConfigFile has one member, and a file from a ConfigMap for all settings.
	ConfigFile Product = "config-file"
	// Docs is etcd's documentation to the letter: flags of variables of variables,
	// and no Service but the headless one.
	Docs Product = "docs"
)

// product is how a copy names its things: what comes behind the cluster's name, or
// behind the StatefulSet's for Services.
type product struct {
	full, peer, client string
	// clientSecret is the Secret with a client's certificate, empty for the usual.
	clientSecret string
	labels       func(name string) map[string]string
	// pack returns the Secrets for the certificates. It is nil for the usual ones.
	pack func(name string) packing
	// secured copies have TLS always, and single ones no second member.
	secured, single bool
}

// packing is the keys of certificates by Secret. A key stands for a certificate and
// its private key, {base}.crt and {base}.key, unless keyName has other names.
type packing struct {
	secret, authority, server, peer, client string
	// apart is a Secret of the client's certificate alone, whose common name is root.
	apart   string
	keyName func(base string) (cert, key string)
}

var products = map[Product]product{
	Kamaji: { //nolint:gosec // the name of a Secret is none
		client: "-client", clientSecret: "-root-client-certs", secured: true,
		labels: func(name string) map[string]string {
			return map[string]string{"app.kubernetes.io/name": "kamaji-etcd", "app.kubernetes.io/instance": name, "application": "kamaji-etcd"}
		},
		pack: func(name string) packing {
			return packing{
				secret: name + "-certs", authority: "ca.crt", server: "server", peer: "peer", apart: name + "-root-client-certs",
				keyName: func(base string) (cert, key string) { return base + ".pem", base + "-key.pem" },
			}
		},
	},
	Karmada: {
		client: "-client", clientSecret: "-cert", secured: true, single: true,
		pack: func(name string) packing {
			return packing{secret: name + "-cert", authority: "etcd-ca.crt", server: "etcd-server", client: "etcd-client", keyName: crtAndKey}
		},
	},
	VCluster: {
		full: "-etcd", peer: "-headless", clientSecret: "-certs", secured: true,
		labels: func(name string) map[string]string { return map[string]string{"app": "vcluster-etcd", "release": name} },
		pack: func(name string) packing {
			return packing{
				secret: name + "-certs", authority: "etcd-ca.crt", server: "etcd-server", peer: "etcd-peer",
				client: "apiserver-etcd-client", keyName: crtAndKey,
			}
		},
	},
	ConfigFile: {client: "-client", single: true},
	Docs:       {},
}

func crtAndKey(base string) (cert, key string) { return base + ".crt", base + ".key" }

// product is what the cluster copies, empty where it copies nothing.
func (l layout) product() product { return products[l.Plain.Like] }

// packed makes the Secrets of a product that has them otherwise.
func (l layout) packed(a *authority, pack func(string) packing) (secretData, error) {
	p := pack(l.Name)
	data := map[string][]byte{p.authority: a.pem}
	add := func(base, commonName string, by *authority, names []string) error {
		if base == "" {
			return nil
		}
		pair, err := by.sign(commonName, names...)
		if err != nil {
			return fmt.Errorf("secret %s: %w", p.secret, err)
		}
		cert, key := p.keyName(base)
		data[cert], data[key] = pair.cert, pair.key
		return nil
	}
	for _, err := range []error{
		add(p.server, "etcd-server", l.server(a), l.serverNames()),
		add(p.peer, "etcd-peer", a, l.peerNames()),
		add(p.client, "etcd-client", a, nil),
	} {
		if err != nil {
			return nil, err
		}
	}
	secrets := secretData{p.secret: data}
	if p.apart != "" {
		apart, err := secretsOf(leaf{p.apart, a, "root", nil})
		if err != nil {
			return nil, err
		}
		secrets[p.apart] = apart[p.apart]
	}
	return secrets, nil
}

// checkProduct refuses what a copy can't have.
func (s Spec) checkProduct() error {
	p, ok := products[s.Plain.Like]
	switch {
	case !ok:
		return fmt.Errorf("no product is called %q", s.Plain.Like)
	case s.Plain != PlainSpec{Like: s.Plain.Like}, s.Budget != nil, s.Apart != "", s.StorageClass != "":
		return fmt.Errorf("a copy of %s has its own settings only", s.Plain.Like)
	case p.single && s.Size != 1:
		return fmt.Errorf("%s has one member, not %d", s.Plain.Like, s.Size)
	case slices.Contains([]string{"3.4"}, s.Version):
		return fmt.Errorf("a copy of %s asks its members what etcd %s doesn't know", s.Plain.Like, s.Version)
	}
	return nil
}
