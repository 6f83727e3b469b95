// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// Peer is a URL by which the others reach a member.
type Peer struct{ Member, URL string }

// ListedPeers returns the peers in a member list.
func ListedPeers(list []etcd.Listed) []Peer {
	var out []Peer
	for _, member := range list {
		for _, u := range member.PeerURLs {
			out = append(out, Peer{member.NameAndID(), u})
		}
	}
	return out
}

// configuredPeers returns the peers in a pod's configuration: its own URLs and the initial
// cluster, which every member reads from its pod until it has joined.
func configuredPeers(pod string, config etcdconf.Config) []Peer {
	var out []Peer
	for _, u := range config.PeerURLs() {
		out = append(out, Peer{pod, u})
	}
	for _, p := range config.InitialPeers() {
		if config.Where["initial-cluster"] != "" && p.Name != config.Name {
			out = append(out, Peer{p.Name, p.URL})
		}
	}
	if why := config.UnknownPeers(); why != "" { // the pod's member need not be the only one
		out = append(out, Peer{Member: why})
	}
	return out
}

// peers returns the members' peers: those that etcd lists, or, if no member answers, those in the
// configuration of the pods. unknown is why those of some pods are not known.
func (c *Cluster) peers(ctx context.Context) (found []Peer, unknown error) {
	if len(c.survey.List) > 0 {
		return ListedPeers(c.survey.List), nil
	}
	pods, err := c.Reader.MemberPods(ctx, c.Owner)
	if err != nil {
		return nil, err
	}
	files := podfiles.New(c.Reader, c.Namespace)
	for _, pod := range pods {
		config, err := files.Config(ctx, pod)
		if err != nil {
			unknown = err
			continue
		}
		unknown = cmp.Or(unknown, unknownPeers(pod.Name, config))
		found = append(found, configuredPeers(pod.Name, config)...)
	}
	return found, unknown
}

// unknownPeers returns why a pod's configuration may not show all of its peers, nil if it does.
func unknownPeers(pod string, config etcdconf.Config) error {
	for _, flag := range []string{"initial-advertise-peer-urls", "initial-cluster"} {
		if why := config.Unknown[flag]; why != "" {
			return fmt.Errorf("--%s of pod %s is not known: %s", flag, pod, why)
		}
	}
	return nil
}

// PeerObstacle returns why Services must not be cut, empty if they may be: members reach each
// other by one of them, which need not be headless. A single member needs none.
func PeerObstacle(services []corev1.Service, peers []Peer) string {
	single := !slices.ContainsFunc(peers, func(p Peer) bool { return p.Member != peers[0].Member })
	if single {
		return ""
	}
	for _, p := range peers {
		u, err := url.Parse(p.URL)
		if err != nil {
			continue
		}
		at := slices.IndexFunc(services, func(s corev1.Service) bool { return hasAddress(&s, u.Hostname()) })
		if at >= 0 {
			return fmt.Sprintf("Service %s is in the peer URL %s of member %s: members reach each other by it, so cutting it could separate them; name the Service that clients use", services[at].Name, p.URL, p.Member)
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
