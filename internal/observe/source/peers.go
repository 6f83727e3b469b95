// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// Peers are the entries of a StatefulSet's initial cluster. They are empty where the list names
// no members of other workloads, and where the template does not show it.
type Peers struct {
	// Own are the entries of the StatefulSet's members, also of some that it may get.
	Own []etcdconf.Peer `json:"own,omitempty"`
	// Others are the entries in the list that are not its own.
	Others []etcdconf.Peer `json:"others,omitempty"`
}

const (
	// peersKey is the annotation of a cached StatefulSet that holds its Peers. The API server
	// accepts no such name, so no client can write it.
	peersKey = "kubectl-etcd:peers"
	// mostPeers is more than any cluster has, and mostText longer than any name and URL.
	mostPeers, mostText = 32, 512
)

// PeersOf returns what the initial cluster of a StatefulSet names. It reads no ConfigMaps and no
// Secrets. Of a cached StatefulSet it returns what keepPeers has kept.
func PeersOf(sts *appsv1.StatefulSet) Peers {
	if peers, cached := kept[Peers](sts, peersKey); cached {
		return peers
	}
	return readPeers(sts)
}

// keepPeers records the Peers of a StatefulSet before its variables are dropped: values of others
// can be secrets. It may be called again with what it returned. It also records that there are none,
// so that no one parses a cached script to find that out.
func keepPeers(sts *appsv1.StatefulSet) { keep(sts, peersKey, readPeers) }

func readPeers(sts *appsv1.StatefulSet) Peers {
	if !etcdconf.RunsEtcd(etcdconf.PodOfTemplate(sts)) {
		return Peers{}
	}
	first := memberConfig(sts, 0)
	if first.Where["initial-cluster"] == "" {
		return Peers{}
	}
	listed := first.InitialPeers()
	if len(listed) < 2 || len(listed) > mostPeers {
		return Peers{}
	}
	replicas := 1
	if sts.Spec.Replicas != nil {
		replicas = min(int(*sts.Spec.Replicas), mostPeers)
	}
	p := Peers{Own: entriesOf(&first)}
	for ordinal := 1; ordinal < max(replicas, len(listed)); ordinal++ {
		config := memberConfig(sts, ordinal)
		for _, e := range entriesOf(&config) {
			// Without the pod's name in it, all of them have the first one's.
			if !slices.Contains(p.Own, e) {
				p.Own = append(p.Own, e)
			}
		}
	}
	p.Own = slices.DeleteFunc(p.Own, tooLong)
	ownListed := false
	for _, e := range listed {
		switch {
		case slices.Contains(p.Own, e):
			ownListed = true
		case !tooLong(e) && !slices.Contains(p.Others, e):
			p.Others = append(p.Others, e)
		}
	}
	if !ownListed || len(p.Others) == 0 {
		// A list without the member itself is no evidence: its own address isn't shown.
		return Peers{}
	}
	return p
}

func tooLong(e etcdconf.Peer) bool { return len(e.Name)+len(e.URL) > mostText }

// entriesOf returns the entries by which the other members name a member.
func entriesOf(c *etcdconf.Config) []etcdconf.Peer {
	var own []etcdconf.Peer
	for _, u := range c.PeerURLs() {
		own = append(own, etcdconf.Peer{Name: c.Name, URL: u})
	}
	return own
}

// memberConfig returns the configuration of one member, by the template alone. It is empty where
// that can't be read.
func memberConfig(sts *appsv1.StatefulSet, ordinal int) etcdconf.Config {
	start := 0
	if sts.Spec.Ordinals != nil {
		start = int(sts.Spec.Ordinals.Start)
	}
	t := &sts.Spec.Template
	name := sts.Name + "-" + strconv.Itoa(start+ordinal)
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: sts.Namespace, Name: name, Labels: t.Labels, Annotations: t.Annotations},
		Spec:       t.Spec,
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, sts.Spec.ServiceName
	config, err := etcdconf.ParsePod(&pod, func(kind, name string) (map[string][]byte, error) {
		return nil, &etcdconf.MissingError{Kind: kind, Namespace: sts.Namespace, Name: name}
	})
	if err != nil {
		return etcdconf.Config{}
	}
	return config
}
