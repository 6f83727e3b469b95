// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// Peer is an entry of an initial cluster.
type Peer struct{ Name, URL string }

// Identifies reports whether an entry is that of one member, whichever pod has it. One with a
// loopback or unspecified host, or with a reference that each pod expands for itself, means another
// member in each pod.
func (p Peer) Identifies() bool {
	u, err := url.Parse(p.URL)
	if err != nil || unresolved(p.Name) || unresolved(p.URL) {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" || IsLoopback(host) {
		return false
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return strings.Trim(host, "0123456789.") != "" // 127.1 is a short form of an address
	}
	ip = ip.Unmap()
	return ip.IsGlobalUnicast()
}

// ShownPeers are the entries of initial clusters that a pod shows.
type ShownPeers struct {
	// Own are the entries by which the other members name this one.
	Own []Peer
	// Listed are the entries of the initial cluster, none for etcd's default: the member alone.
	Listed []Peer
	// Unknown is why Listed may not be all members, empty if it is.
	Unknown string
	// Joins is true if etcd may join members that are there, so that its data may have a longer list.
	Joins bool `json:",omitempty"`
}

// Alone reports whether a list is shown, and names only the member itself.
func (p *ShownPeers) Alone() bool {
	return p.Unknown == "" && !p.Joins && len(p.Listed) > 0 && !slices.ContainsFunc(p.Listed, func(e Peer) bool {
		return !slices.ContainsFunc(p.Own, func(own Peer) bool { return own.Name == e.Name })
	})
}

// PeersOfPod returns the entries that a pod shows. It reads no ConfigMaps and no Secrets.
func PeersOfPod(pod *corev1.Pod) ShownPeers {
	config, err := parseShown(pod)
	if err != nil {
		return ShownPeers{Unknown: script.Cut(err.Error())}
	}
	p := ShownPeers{Own: canonical(config.ownPeers(), pod), Unknown: config.UnknownPeers()}
	if config.Where["initial-cluster"] != "" {
		p.Listed = canonical(config.InitialPeers(), pod)
		p.Joins = config.Launcher != "" || config.listInData() != "" || restoredList(pod, Unread(pod.Namespace)) != ""
	}
	return p
}

// canonical returns entries of a pod with their URLs in one form, so that those of two pods of a namespace can be compared. A
// URL with a part that only the pod knows remains.
func canonical(entries []Peer, pod *corev1.Pod) []Peer {
	for i, e := range entries {
		form := CanonicalURL(e.URL)
		u, err := url.Parse(form)
		if form == "" || err != nil || unresolved(e.URL) {
			continue
		}
		host := u.Hostname()
		if short := shortHost(host, pod); short != host {
			u.Host = short + strings.TrimPrefix(u.Host, host)
			form = u.String()
		}
		entries[i].URL = form
	}
	return entries
}

// shortHost returns a host without the pod's namespace and what follows it: H, H.NAMESPACE.svc and H.NAMESPACE.svc.DOMAIN are
// one name. H.NAMESPACE remains: it may be POD.SERVICE, if a Service has the name of the namespace.
func shortHost(host string, pod *corev1.Pod) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	name, _, ofService := strings.Cut(host+".", ".svc.")
	if !ofService {
		return host
	}
	if short, is := strings.CutSuffix(name, "."+pod.Namespace); is && short != "" && pod.Namespace != "" {
		return short
	}
	return host
}

// CanonicalURL returns a URL in one form: the case of its scheme and host, a final dot of its host, the form of an IP and a
// final slash don't count. It is empty for a text that is no URL with a host.
func CanonicalURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.Host = host
	return strings.TrimSuffix(u.String(), "/")
}

// ownPeers returns the entries by which the other members name this one.
func (c *Config) ownPeers() []Peer {
	var own []Peer
	for _, u := range c.PeerURLs() {
		own = append(own, Peer{Name: c.Name, URL: u})
	}
	return own
}

// discovery are the flags by which etcd finds the members where it has no initial cluster.
var discovery = []string{"discovery", "discovery-srv", "discovery-token"}

// waysUnknown are why a setting is not known although one way of a script shows it.
var waysUnknown = []string{errWays.Error(), errManyWays.Error(), errTooMuchWork.Error()}

// UnknownPeers returns why the initial cluster is not known in full, empty if it is. A value that
// can't be read is not that of etcd's default, which is the member alone.
func (c *Config) UnknownPeers() string {
	for _, flag := range []string{"initial-cluster", "name", "initial-advertise-peer-urls"} {
		if why := c.Unknown[flag]; slices.Contains(waysUnknown, why) {
			return script.Cut("--" + flag + ": " + why)
		}
	}
	if c.Where["initial-cluster"] == "" {
		why := c.Unknown["initial-cluster"]
		for _, flag := range discovery {
			if why = cmp.Or(why, c.Unknown[flag]); c.Where[flag] != "" {
				why = "--" + flag + " finds the members"
			}
		}
		return script.Cut(cmp.Or(why, c.listInData()))
	}
	named := false
	for _, e := range entriesOf(c.InitialCluster) {
		named = named || e.named && e.Name == c.Name
		if !e.named && e.text != "" || unresolved(e.Name) && e.Name != c.Name {
			return script.Cut(cmp.Or(c.Unknown["initial-cluster"], "a part of --initial-cluster is only known in the pod: "+e.text))
		}
	}
	if !named {
		return script.Cut(cmp.Or(c.Unknown["name"], fmt.Sprintf("--initial-cluster does not name the member itself, %s", c.Name)))
	}
	return ""
}

// listInData returns why etcd's data has the list of members where nothing else has it, empty if etcd starts a cluster of its
// own: only a new cluster needs none.
func (c *Config) listInData() string {
	switch why := c.Unknown["initial-cluster-state"]; {
	case why != "":
		return "--initial-cluster-state: " + why
	case cmp.Or(c.InitialClusterState, defaultState) != defaultState:
		return "etcd's data has the members: --initial-cluster-state is " + c.InitialClusterState + ", without --initial-cluster"
	}
	return ""
}

// NamesNoPeers reports whether nothing gives etcd an initial cluster, so that it is a cluster of its own by default.
func (c *Config) NamesNoPeers() bool {
	return c.Where["initial-cluster"] == "" && c.UnknownPeers() == ""
}

// PeerURLs returns the URLs by which the other members reach this one: those that it advertises,
// otherwise those in its initial cluster. It is empty if nothing sets either.
func (c Config) PeerURLs() []string {
	if c.Where["initial-advertise-peer-urls"] != "" {
		return c.AdvertisePeer
	}
	if c.Where["initial-cluster"] == "" {
		return nil
	}
	var urls []string
	for _, p := range c.InitialPeers() {
		if p.Name == c.Name {
			urls = append(urls, p.URL)
		}
	}
	return urls
}

// UnknownPeerURLs returns why the URLs for peers are not known, empty if they are.
func (c Config) UnknownPeerURLs() string {
	for _, flag := range []string{"listen-peer-urls", "initial-advertise-peer-urls"} {
		if why := c.Unknown[flag]; why != "" {
			return script.Cut("--" + flag + ": " + why)
		}
	}
	for _, text := range slices.Concat(c.ListenPeer, c.AdvertisePeer) {
		if unresolved(text) {
			return script.Cut("a part is only known in the pod: " + text)
		}
	}
	return ""
}
