// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// unknownPeerURLs returns why the peer URLs of a configuration are not known, empty if they are. Unless it is
// configured, etcd listens on the loopback address, where no other member reaches it. So a program or a file
// that the pod doesn't show configures it then.
func unknownPeerURLs(c etcdconf.Config, listed []string) string {
	for _, flag := range []string{"listen-peer-urls", "initial-advertise-peer-urls"} {
		if why := c.Unknown[flag]; why != "" {
			return "--" + flag + ": " + why
		}
	}
	if c.Where["listen-peer-urls"] == "" && slices.ContainsFunc(listed, func(u string) bool { return etcdconf.Peer{URL: u}.Identifies() }) {
		return "the pod doesn't show --listen-peer-urls"
	}
	for _, text := range c.AdvertisePeer {
		if operate.HostOf(text) == "" && c.Where["initial-advertise-peer-urls"] != "" {
			return "the host of " + text + " is only known in the pod"
		}
	}
	return c.UnknownPeerURLs()
}

// withListedHosts returns the URLs that a member advertises, with the listed host where theirs is the IP of a
// pod: the next pod has another one, which is not known yet, and etcd ignores the host of a member with data.
func withListedHosts(advertised, listed []string) []string {
	if len(advertised) != 1 || len(listed) != 1 || isAddress(operate.HostOf(listed[0])) {
		return advertised
	}
	if host := operate.HostOf(advertised[0]); host != "" && !isAddress(host) {
		return advertised
	}
	to, err := url.Parse(advertised[0])
	if err != nil {
		return advertised
	}
	from, _ := url.Parse(listed[0]) // HostOf has parsed it
	to.Host = strings.TrimSuffix(net.JoinHostPort(from.Hostname(), to.Port()), ":")
	return []string{to.String()}
}

// isAddress reports whether a host is no name, which stays the same for the next pod.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || host == ""
}

func schemes(urls []string) []string {
	var all []string
	for _, text := range urls {
		scheme, _, _ := strings.Cut(text, ":")
		all = append(all, scheme)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// duePeerURLs returns the peer URLs that etcd's list is to get for a member with a configuration, none if
// others reach it by those that are listed. etcd ignores --initial-advertise-peer-urls of a member with data,
// so another host in it means nothing. now are the listeners of the pod that runs, none if they are not known. If they
// stay the same, a port or TLS of a proxy may be between. If the current ones are listed, nothing is between. So the next
// pod has to listen on what it advertises then, and if they are not known, too.
func duePeerURLs(listed []string, c etcdconf.Config, now []string) (due []string, contradiction string) {
	advertised := slices.Sorted(slices.Values(c.AdvertisePeer))
	stays := slices.Equal(advertised, slices.Sorted(slices.Values(listed)))
	listens := schemes(c.ListenPeer)
	direct := len(now) == 0 || operate.Meet(etcdconf.SchemesAndPorts(listed), now)
	switch {
	case operate.Meet(etcdconf.SchemesAndPorts(listed), c.PeerListeners()), stays && len(now) > 0 && slices.Equal(now, c.PeerListeners()):
		return nil, ""
	case stays && !direct && operate.Meet(schemes(listed), listens):
		return nil, ""
	case c.Where["initial-advertise-peer-urls"] == "":
		return nil, fmt.Sprintf("it listens for peers on %s, etcd's member list has %s, and --initial-advertise-peer-urls is not set", strings.Join(c.ListenPeer, ","), strings.Join(listed, ","))
	case !operate.Meet(schemes(advertised), listens), direct && !operate.Meet(etcdconf.SchemesAndPorts(advertised), c.PeerListeners()):
		return nil, fmt.Sprintf("it listens for peers on %s, and --initial-advertise-peer-urls is %s", strings.Join(c.ListenPeer, ","), strings.Join(c.AdvertisePeer, ","))
	}
	return advertised, ""
}
