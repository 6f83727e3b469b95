// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// assign says of each entry of a member list which pod it runs in: by its peer URL,
// which says most where the pod's own configuration has the same, or else begins with
// the pod's name; then by its name, which a member has from its first start on; then
// by the ID that the pod's member told. Pods and entries go together once.
func assign(list []Listed, endpoints []Endpoint, members []Member) {
	taken := map[string]bool{}
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
			// Two that fit fit badly: a peer URL that all pods share says nothing.
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
		return slices.ContainsFunc(l.PeerURLs, func(u string) bool { return firstLabel(u) == endpoints[j].Pod })
	})
	each(func(l *Listed, j int) bool {
		return l.Name != "" && (l.Name == endpoints[j].Name || endpoints[j].Name == "" && l.Name == endpoints[j].Pod)
	})
	each(func(l *Listed, j int) bool {
		return j < len(members) && members[j].Err == nil && members[j].ID == l.ID
	})
}

// firstLabel is the first part of a URL's host name, which in Kubernetes is the pod's.
func firstLabel(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	label, _, _ := strings.Cut(u.Hostname(), ".")
	return label
}

// DuePod is the pod that a member without one had and will have again: its
// StatefulSet asks for a pod of that name, which is only not there now. Empty for a
// member that has its pod, or that none is due for.
func (l Listed) DuePod(o observe.Owner) string {
	if l.Pod != "" {
		return ""
	}
	names := []string{l.Name}
	for _, u := range l.PeerURLs {
		names = append(names, firstLabel(u))
	}
	for _, n := range names {
		if at := o.Ordinal(n); at >= 0 && at < int(o.Replicas) {
			return n
		}
	}
	return ""
}
