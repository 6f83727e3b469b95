// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// PeerObstacle returns why Services must not be cut, empty if they may be: members reach each
// other by one of them, which need not be headless. A single member needs none.
func PeerObstacle(services []corev1.Service, list []etcd.Listed) string {
	if len(list) < 2 {
		return ""
	}
	for _, member := range list {
		for _, peer := range member.PeerURLs {
			u, err := url.Parse(peer)
			if err != nil {
				continue
			}
			at := slices.IndexFunc(services, func(s corev1.Service) bool { return hasAddress(&s, u.Hostname()) })
			if at >= 0 {
				return fmt.Sprintf("Service %s is in the peer URL %s of member %s: members reach each other by it, so cutting it could separate them; name the Service that clients use", services[at].Name, peer, member.NameAndID())
			}
		}
	}
	return ""
}

// hasAddress reports whether a host is one of a Service's names or addresses.
func hasAddress(s *corev1.Service, host string) bool {
	host = strings.TrimSuffix(host, ".")
	local := s.Name + "." + s.Namespace
	if host == s.Name || host == local || host == local+".svc" || strings.HasPrefix(host, local+".svc.") {
		return true
	}
	addresses := slices.Concat(s.Spec.ClusterIPs, s.Spec.ExternalIPs, []string{s.Spec.ClusterIP, s.Spec.ExternalName})
	for _, i := range s.Status.LoadBalancer.Ingress {
		addresses = append(addresses, i.IP, i.Hostname)
	}
	return host != "" && slices.Contains(addresses, host)
}
