// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// assign sets the pod of each entry of a member list. It compares, in this order: peer URLs
// with those in the pod's configuration, the host of peer URLs with the pod's name, the
// member's name, which exists from the first start on, and the ID that the pod's member
// reports. It assigns each pod to one entry only.
func assign(list []Listed, endpoints []access.Endpoint, members []Member) {
	taken := map[string]bool{}
	// byHost reports whether an entry without a pod has a peer URL with the name of a pod as its host.
	byHost := func(l *Listed, j int) bool {
		return l.Pod == "" && slices.ContainsFunc(l.PeerURLs, func(u string) bool { return firstLabel(u) == endpoints[j].Pod })
	}
	each := func(same func(*Listed, int) bool) {
		for i := range list {
			if list[i].Pod != "" {
				continue
			}
			var fit []string
			for j, e := range endpoints {
				if !taken[e.Pod] && same(&list[i], j) {
					fit = append(fit, e.Pod)
				}
			}
			// Several matches are ambiguous, for example a peer URL that all pods share.
			if len(fit) == 1 {
				list[i].Pod = fit[0]
				taken[fit[0]] = true
			}
		}
	}
	each(func(l *Listed, j int) bool {
		return slices.ContainsFunc(l.PeerURLs, func(u string) bool { return slices.Contains(endpoints[j].PeerURLs, u) })
	})
	each(func(l *Listed, j int) bool {
		// Of two entries with one host, one has a wrong peer URL. Their names show which.
		others := slices.ContainsFunc(list, func(o Listed) bool { return o.ID != l.ID && byHost(&o, j) })
		return byHost(l, j) && !others
	})
	each(func(l *Listed, j int) bool {
		return l.Name != "" && (l.Name == endpoints[j].Name || endpoints[j].Name == "" && l.Name == endpoints[j].Pod)
	})
	each(func(l *Listed, j int) bool {
		return j < len(members) && members[j].Err == nil && members[j].ID == l.ID
	})
}

// firstLabel returns the first label of a URL's host name. In Kubernetes it is the pod's
// name.
func firstLabel(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	label, _, _ := strings.Cut(u.Hostname(), ".")
	return label
}

// Hosts returns the first label of the host name of each peer URL. In Kubernetes it is the name of
// the member's pod.
func (l Listed) Hosts() []string {
	var hosts []string
	for _, u := range l.PeerURLs {
		hosts = append(hosts, firstLabel(u))
	}
	return hosts
}

// PodNamed returns the pod of the owner's StatefulSet of which a member without a pod has the name or the host, also if
// the StatefulSet has no replica for it now. It is empty for none.
func (l Listed) PodNamed(o owner.Owner) string {
	for _, n := range append([]string{l.Name}, l.Hosts()...) {
		if o.Ordinal(n) >= 0 {
			return n
		}
	}
	return ""
}

// DuePod returns the pod that a member without a pod had and will have again: its StatefulSet
// will create a pod of that name. It is empty for a member that has a pod, for one that gets none, and if another member
// of the list has that pod.
func (l Listed) DuePod(o owner.Owner, list []Listed) string {
	if l.Pod != "" {
		return ""
	}
	for _, n := range append([]string{l.Name}, l.Hosts()...) {
		taken := slices.ContainsFunc(list, func(other Listed) bool { return other.Pod == n })
		if at := o.Ordinal(n); at >= 0 && at < int(o.Replicas) && !taken {
			return n
		}
	}
	return ""
}
