// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	// domain is what follows .svc or .pod in the host. Of this cluster's it is not known what it is.
	domain string
	// through are the Services that have the address.
	through []*corev1.Service
}

// addresses returns the addresses of the peer URLs. The error is why one is not known.
func (p Peer) addresses() ([]address, error) {
	var out []address
	for _, text := range p.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return out, fmt.Errorf("its peer URL %q has no address", text)
		}
		out = append(out, parseAddress(u.Hostname(), u.Port()))
	}
	return out, nil
}

// parseAddress reads SERVICE.NAMESPACE.svc and NAME.SERVICE.NAMESPACE.svc with or without a cluster's domain,
// A-B-C-D.NAMESPACE.pod, and IPs. Of any other name it reads the first label, and leaves it open whose name the
// others are. See [search.resolve].
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
		if a.ip = dashedIP(labels[0]); a.ip.IsValid() {
			a.namespace = labels[1]
		}
	case at == 2:
		a.namespace = labels[1]
	case at == 3 && labels[at] == "svc":
		a.service, a.namespace = labels[1], labels[2]
	}
	if a.namespace != "" {
		a.domain = strings.Join(labels[at+1:], ".")
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

// isOf reports whether an address is a pod's: its name or host name, its IP, or one of a Service that selects it.
// A pod in its node's network has no IP of its own. That of a node is in [search.onNode].
func (a address) isOf(pod *corev1.Pod) bool {
	if !a.ip.IsValid() && (pod.Name == a.name || pod.Spec.Hostname == a.name) {
		return true
	}
	return hasIP(pod, a) || slices.ContainsFunc(a.through, func(s *corev1.Service) bool { return selects(s, pod) })
}

// isOf reports whether a pod has the member's name, or one of its addresses.
func (p Peer) isOf(pod *corev1.Pod, all []address) bool {
	if p.Name != "" && (pod.Name == p.Name || pod.Spec.Hostname == p.Name) {
		return true
	}
	return slices.ContainsFunc(all, func(a address) bool { return a.isOf(pod) })
}

func hasIP(pod *corev1.Pod, a address) bool {
	return !pod.Spec.HostNetwork && slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool { return a.is(ip.IP) })
}
