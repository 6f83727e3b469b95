// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// address is the host of a peer URL as the DNS of Kubernetes reads it.
type address struct {
	host, port string
	// ip is the zero value for a host name.
	ip netip.Addr
	// name is the first label: of a pod, or of a Service. service is the Service of a pod's name, empty
	// for none.
	name, service string
	// namespace is the one that the host names, empty where it names none.
	namespace string
}

// addresses returns the addresses of the peer URLs.
func (p Peer) addresses() []address {
	var out []address
	for _, text := range p.URLs {
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			out = append(out, parseAddress(u.Hostname(), u.Port()))
		}
	}
	return out
}

// parseAddress reads NAME, NAME.SERVICE, SERVICE.NAMESPACE.svc, NAME.SERVICE.NAMESPACE.svc with or without the
// cluster's domain, A-B-C-D.NAMESPACE.pod, and IPs.
func parseAddress(host, port string) address {
	a := address{host: strings.ToLower(strings.TrimSuffix(host, ".")), port: port}
	if ip, err := netip.ParseAddr(a.host); err == nil {
		a.ip, a.name = ip.Unmap(), a.host
		return a
	}
	labels := strings.Split(a.host, ".")
	a.name = labels[0]
	at := slices.IndexFunc(labels, func(l string) bool { return l == "svc" || l == "pod" })
	switch {
	case at == 2 && labels[at] == "pod":
		a.namespace = labels[1]
		a.ip = dashedIP(labels[0])
	case at == 2:
		a.namespace = labels[1]
	case at == 3 && labels[at] == "svc":
		a.service, a.namespace = labels[1], labels[2]
	case at < 0 && (len(labels) == 2 || len(labels) == 3):
		a.service = labels[1]
	}
	return a
}

// dashedIP reads an IP as the DNS of Kubernetes writes that of a pod. It returns the zero value for any other
// text.
func dashedIP(text string) netip.Addr {
	for _, separator := range []string{".", ":"} {
		if ip, err := netip.ParseAddr(strings.ReplaceAll(text, "-", separator)); err == nil {
			return ip.Unmap()
		}
	}
	return netip.Addr{}
}

// is reports whether an IP is the address's.
func (a address) is(ip string) bool {
	other, err := netip.ParseAddr(ip)
	return err == nil && a.ip.IsValid() && other.Unmap() == a.ip
}
