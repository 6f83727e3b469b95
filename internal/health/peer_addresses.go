// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"net"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
)

func peerAddresses(f *Facts) []Finding {
	if found, is := f.listed(); !is {
		return found
	}
	var found []Finding
	for _, l := range f.Survey.Value.List {
		for _, address := range l.PeerURLs {
			u, err := url.Parse(address)
			if err != nil {
				continue
			}
			ip := net.ParseIP(u.Hostname())
			switch {
			case etcdconf.IsLoopback(u.Hostname()):
				found = append(found, warning(f.peerAddressCure(l), "%s advertises %s to other members: none of them can reach it", called(l), address))
			case ip == nil || len(f.Survey.Value.List) == 1:
			case f.Pods.Err != nil:
				found = append(found, unknown(called(l)+": whether "+address+" is the address of its pod", f.Pods.Err))
			case f.mayLose(u.Hostname()):
				found = append(found, warning(f.peerAddressCure(l), "%s advertises %s to the other members: a pod that is created again may have another IP", called(l), address))
			}
		}
	}
	return found
}

// mayLose reports whether a host is an IP of a member's pod that the pod may lose.
func (f *Facts) mayLose(host string) bool {
	return slices.ContainsFunc(slices.Concat(f.Pods.Value, f.Elsewhere), func(p *corev1.Pod) bool { return peers.MayLose(p, host) })
}

// peerAddressCure returns how a member gets a peer URL that other members can reach also after a restart. A member
// with data keeps the URL that etcd's list has.
func (f *Facts) peerAddressCure(l etcd.Listed) string {
	name := "the pod's name under the headless Service"
	if f.Owner.WithoutStatefulSet() {
		name = "the name of a Service that selects this member alone"
	}
	update := "run the command that check M009 prints for each member"
	if len(f.Survey.Value.List) == 1 { // M009 asks for other members
		update = "run " + f.Command("proxy") + " -- etcdctl member update " + id(l) + " --peer-urls=URL"
	}
	return "advertise " + name + " to the other members: " + f.changeFlags("set --initial-advertise-peer-urls", "") + ", and then " + update
}
