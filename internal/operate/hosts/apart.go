// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Together returns how many of the first pods of a cluster can run at the same time, if each has some nodes, and the
// topology key by which required anti-affinity keeps them apart. It evaluates each key alone, so with several keys
// there can be fewer. pod is any of them.
func Together(pod *corev1.Pod, nodes [][]*corev1.Node) (n int, key string) {
	n = len(nodes)
	for _, t := range terms.Self(pod) {
		if !t.Hard || t.Kind != spread.PodAntiAffinity {
			continue
		}
		if fit := (domains{t.TopologyKey, nodes, map[string]int{}}).fill(); fit < n {
			n, key = fit, t.TopologyKey
		}
	}
	return n, key
}

// domains gives each pod another domain of a topology key.
type domains struct {
	key   string
	nodes [][]*corev1.Node
	// taken has the pod in each domain.
	taken map[string]int
}

// fill returns how many of the first pods get a domain.
func (d domains) fill() int {
	for pod := range d.nodes {
		if !d.assign(pod, map[string]bool{}) {
			return pod
		}
	}
	return len(d.nodes)
}

// assign gives a pod a domain, and another one to the pod that had it before. It reports whether there are such domains.
// tried are domains that can't be freed.
func (d domains) assign(pod int, tried map[string]bool) bool {
	for _, n := range d.nodes[pod] {
		domain, has := n.Labels[d.key]
		if !has { // the scheduler keeps no pods apart there
			return true
		}
		if tried[domain] {
			continue
		}
		tried[domain] = true
		if other, is := d.taken[domain]; !is || d.assign(other, tried) {
			d.taken[domain] = pod
			return true
		}
	}
	return false
}
