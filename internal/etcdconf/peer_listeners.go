// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// onLoopback follows the port of a URL whose host is the loopback address: no other pod reaches it.
const onLoopback = " on loopback"

// SchemesAndPorts returns the schemes and ports of URLs, as "https:2380" or "https:2380 on loopback", without those that
// are not known.
func SchemesAndPorts(urls []string) []string {
	var all []string
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Scheme == "" || unresolved(text) {
			continue
		}
		l := u.Scheme + ":" + u.Port()
		if IsLoopback(u.Hostname()) {
			l += onLoopback
		}
		all = append(all, l)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// PeerConfigOfPod returns the configuration of a pod that shows on what its member listens for peers, and reports
// whether it does. It reads no ConfigMaps and no Secrets.
func PeerConfigOfPod(pod *corev1.Pod) (Config, bool) {
	config, err := parseShown(pod)
	if err != nil || config.Where["listen-peer-urls"] == "" || config.Unknown["listen-peer-urls"] != "" {
		return Config{}, false
	}
	return config, len(config.PeerListeners()) > 0
}

// PeersMove reports whether a member with the configuration next listens for peers on nothing on which one with now
// does, as far as both are known: so those that have the old address don't reach it.
func PeersMove(now, next Config) bool {
	before, after := SchemesAndPorts(now.ListenPeer), next.PeerListeners()
	return len(before) > 0 && len(after) > 0 && !slices.ContainsFunc(before, func(l string) bool { return slices.Contains(after, l) })
}

// PeerListeners returns which of SchemesAndPorts the member serves, so those of the URLs on which it listens for peers.
// A listener on another address than the loopback one may serve that, too. It leaves out what is not known.
func (c Config) PeerListeners() []string {
	all := SchemesAndPorts(c.ListenPeer)
	for _, l := range slices.Clone(all) {
		if !strings.HasSuffix(l, onLoopback) {
			all = append(all, l+onLoopback)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
