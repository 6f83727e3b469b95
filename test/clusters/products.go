// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"
	"slices"
)

// Product is a product with special names, labels, flags or certificates. A StatefulSet can copy
// the product's manifests. The product itself doesn't run.
type Product string

// The products that can be copied.
const (
	// Kamaji has its certificates in one Secret under its own keys. It authenticates by the
	// common name of the client's certificate, which is in another Secret.
	Kamaji Product = "kamaji"
	// Karmada has one member. The member's name differs from its pod's name, it has other names
	// for flags, and it advertises the client Service.
	Karmada Product = "karmada"
	// VCluster has no ports in its pods, and all certificates in one Secret.
	VCluster Product = "vcluster"
	// ConfigFile has one member, with all settings in a file from a ConfigMap.
	ConfigFile Product = "config-file"
	// Docs is exactly etcd's documentation. Its flags use variables that use other variables,
	// and it only has the headless Service.
	Docs Product = "docs"
)

// product has the name suffixes of a copy. full follows the cluster's name. peer and client
// follow the StatefulSet's name.
type product struct {
	full, peer, client string
	// clientSecret is the Secret with a client's certificate. It is empty for the default name.
	clientSecret string
	labels       func(name string) map[string]string
	// pack returns the Secrets for the certificates. It is nil for the default Secrets.
	pack func(name string) packing
	// secured copies always have TLS, and single ones have only one member.
	secured, single bool
}

// packing has the keys of certificates in a Secret. A key {base} means the certificate
// {base}.crt and the private key {base}.key, unless keyName returns other names.
type packing struct {
	secret, authority, server, peer, client string
	// apart is a Secret with only a client's certificate with the common name root.
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

// product returns what the cluster copies. It is empty if the cluster copies nothing.
func (l layout) product() product { return products[l.Plain.Like] }

// packed creates the Secrets of a product with special Secrets.
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

// checkProduct refuses fields that a copy doesn't support.
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

// readyMade lists the ready-made clusters in the order of the help.
var readyMade = []struct {
	name string
	spec Spec
}{
	{"druid-3", Spec{Flavour: Druid, Size: 3}},
	{"druid-1", Spec{Flavour: Druid, Size: 1}},
	{"plain-3", Spec{Flavour: Plain, Size: 3}},
	{"plain-5", Spec{Flavour: Plain, Size: 5}},
	{"bitnami-3", Spec{Flavour: Bitnami, Size: 3}},
}

// ReadyMade returns the spec of the ready-made cluster with that name. The caller may set more
// fields, for example TLS.
func ReadyMade(name string) (Spec, error) {
	for _, r := range readyMade {
		if r.name == name {
			return r.spec, nil
		}
	}
	return Spec{}, fmt.Errorf("no ready-made cluster is called %q; known are %q", name, ReadyMadeNames())
}

// ReadyMadeNames returns the names of the ready-made clusters.
func ReadyMadeNames() []string {
	names := make([]string, len(readyMade))
	for i, r := range readyMade {
		names[i] = r.name
	}
	return slices.Clip(names)
}
