// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// Peers are the entries of a StatefulSet's initial cluster. Where the template does not show the list,
// they are unknown.
type Peers struct {
	// Own are the entries of the StatefulSet's members, also of some that it may get.
	Own []etcdconf.Peer `json:"own,omitempty"`
	// Others are the entries in the list that are not its own.
	Others []etcdconf.Peer `json:"others,omitempty"`
	// Listed counts the entries in the list, those of Own and of Others.
	Listed int `json:"listed,omitempty"`
	// Separate is true if each member lists only itself, at an address that is not another one's: they are no cluster.
	Separate bool `json:"separate,omitempty"`
	// Unknown is why it is not known which others there are, empty if it is known.
	Unknown string `json:"unknown,omitempty"`
}

const (
	// peersKey is the key under which a cached StatefulSet has its Peers, and a cached pod what it shows.
	peersKey = "peers"
	// mostPeers is more than any cluster has, and mostText longer than any name and URL.
	mostPeers, mostText = 32, 512
	// mostOwn is more than the members of a StatefulSet advertise together.
	mostOwn = 4 * mostPeers
)

// PeersOf returns what the initial cluster of a StatefulSet names. It reads no ConfigMaps and no
// Secrets. Of a cached StatefulSet it returns what keepPeers has kept.
func PeersOf(sts *appsv1.StatefulSet) Peers {
	if peers, cached := kept[Peers](sts, peersKey); cached {
		return peers
	}
	return readPeers(sts)
}

// ParseOnce records on a StatefulSet that is no cache's what PeersOf returns, because one request asks for
// it several times and a template takes long to parse. The API server would refuse to write the record.
func ParseOnce(sts *appsv1.StatefulSet) { keepPeers(sts) }

// keepPeers records the Peers of a StatefulSet before its variables are dropped: values of others
// can be secrets. It may be called again with what it returned. It also records that there are none,
// so that no one parses a cached script to find that out.
func keepPeers(sts *appsv1.StatefulSet) { keep(sts, peersKey, readPeers) }

func readPeers(sts *appsv1.StatefulSet) Peers {
	if !etcdconf.RunsEtcd(etcdconf.PodOfTemplate(sts)) {
		return Peers{}
	}
	first := shownPeers(sts, 0)
	switch {
	case first.Unknown != "":
		return Peers{Unknown: first.Unknown}
	case max(len(first.Listed), len(first.Own)) > mostPeers:
		return Peers{Unknown: fmt.Sprintf("--initial-cluster has %d entries, and the member advertises %d", len(first.Listed), len(first.Own))}
	}
	peers := split(ownPeers(sts, &first), first.Listed)
	if !fits(peers) {
		return Peers{Unknown: "the entries of --initial-cluster are too long"}
	}
	if first.Alone() {
		second := shownPeers(sts, 1)
		peers.Separate = second.Alone() && !slices.ContainsFunc(first.Own, func(e etcdconf.Peer) bool {
			return e.Identifies() && slices.Contains(second.Own, e)
		})
	}
	return peers
}

// ownPeers returns the entries of a StatefulSet's members, also of some that it may get. first is what
// the first of them shows.
func ownPeers(sts *appsv1.StatefulSet, first *etcdconf.ShownPeers) []etcdconf.Peer {
	replicas := 1
	if sts.Spec.Replicas != nil {
		replicas = min(int(*sts.Spec.Replicas), mostPeers)
	}
	own := slices.Clone(first.Own)
	for ordinal := 1; ordinal < max(replicas, len(first.Listed)); ordinal++ {
		for _, e := range shownPeers(sts, ordinal).Own {
			// Without the pod's name in it, all of them have the first one's.
			if len(own) <= mostOwn && !slices.Contains(own, e) {
				own = append(own, e)
			}
		}
	}
	return slices.DeleteFunc(own, tooLong)
}

// split returns the entries of a list by whose they are. If the list names others, and its members by
// other addresses than those that they advertise, or an entry is too long to be kept, then it is not
// known which others there are.
func split(own, listed []etcdconf.Peer) Peers {
	p := Peers{Own: own}
	ownListed, long, names := false, false, map[string]bool{}
	for _, e := range listed {
		names[e.Name] = true
		switch {
		case slices.Contains(own, e):
			ownListed = true
		case slices.ContainsFunc(own, func(o etcdconf.Peer) bool { return o.Name == e.Name }):
		case tooLong(e):
			long = true
		case !slices.Contains(p.Others, e):
			p.Others = append(p.Others, e)
		}
	}
	switch {
	case long:
		return Peers{Unknown: "an entry of --initial-cluster is too long"}
	case len(p.Others) > 0 && !ownListed:
		return Peers{Unknown: "--initial-cluster does not name the member itself by an address that it advertises"}
	}
	p.Listed = len(names)
	return p
}

func tooLong(e etcdconf.Peer) bool { return len(e.Name)+len(e.URL) > mostText }

// shownPeers returns what one member shows, by the template alone.
func shownPeers(sts *appsv1.StatefulSet, ordinal int) etcdconf.ShownPeers {
	start := 0
	if sts.Spec.Ordinals != nil {
		start = int(sts.Spec.Ordinals.Start)
	}
	name := sts.Name + "-" + strconv.Itoa(start+ordinal)
	return etcdconf.PeersOfPod(etcdconf.NextPod(sts, &sts.Spec.Template, name))
}
