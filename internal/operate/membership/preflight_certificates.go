// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// checkNames checks the certificates that new members will present.
func (m *Members) checkNames(ctx context.Context, s *observation, target int, f *operate.Findings) {
	for _, file := range certificatesOf(s, target) {
		var text []byte
		if pod := s.anyPod(); pod != nil {
			text, _, _ = podfiles.New(m.Reader, pod.Namespace).File(ctx, pod, s.configs[0].Container, file.path) // judgeCertificate warns without it
		}
		judgeCertificate(file.what, file.path, text, file.hosts, f)
	}
}

// namedCertificate is a certificate of the members, with the hosts of new members that it must be
// valid for.
type namedCertificate struct {
	what, path string
	hosts      []string
}

// certificatesOf returns the certificates that members with TLS use. A certificate that is set
// where members speak without TLS is not used, so its names don't matter.
func certificatesOf(s *observation, target int) []namedCertificate {
	peer := namedCertificate{what: "peer certificate", path: s.configs[0].PeerTLS.Cert}
	serving := namedCertificate{what: "serving certificate", path: s.configs[0].ClientTLS.Cert}
	for ordinal := s.Replicas; ordinal < target; ordinal++ {
		host := operate.HostOf(s.Ordinals[ordinal].URL)
		if host == "" {
			continue // checkReplica refuses it
		}
		if secure(s.Ordinals[ordinal].URL) {
			peer.hosts = append(peer.hosts, host)
		}
		if slices.ContainsFunc(s.configs[ordinal].ListenClient, secure) {
			serving.hosts = append(serving.hosts, host)
		}
	}
	return slices.DeleteFunc([]namedCertificate{peer, serving}, func(c namedCertificate) bool { return c.path == "" || len(c.hosts) == 0 })
}

func secure(u string) bool { return strings.HasPrefix(u, "https://") }

// judgeCertificate refuses where a certificate is not valid for the names of new members. text is its
// file, empty where that can't be read.
func judgeCertificate(what, path string, text []byte, hosts []string, f *operate.Findings) {
	block, _ := pem.Decode(text)
	if block == nil {
		f.Warn("Could not check whether the %s is valid for the new members (%s).", what, path)
		return
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		f.Refuse("the %s %s: %v", what, path, err)
		return
	}
	for _, host := range hosts {
		if certificate.VerifyHostname(host) != nil {
			f.Refuse("the %s is not valid for %s: it has %s; renew it with that name first", what, host, strings.Join(certificate.DNSNames, ", "))
		}
	}
}
