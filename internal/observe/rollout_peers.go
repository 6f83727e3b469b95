// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// PeersMove reports whether a template has the members of a cluster listen for peers on other schemes or ports
// than a pod, or the template from before. It is false where either doesn't show them, and where a program
// manages the members: it may update etcd's member list itself.
func PeersMove(o owner.Owner, before, after *corev1.Pod) bool {
	if o.Membership().Manager != flavour.Unmanaged {
		return false
	}
	old, next := etcdconf.ShownPeerListeners(before), etcdconf.ShownPeerListeners(after)
	return len(old) > 0 && len(next) > 0 && !slices.ContainsFunc(old, func(l string) bool { return slices.Contains(next, l) })
}

// addPeers adds which outdated pods listen for peers on others than the newest template.
func (o *Rollout) addPeers(of owner.Owner) {
	for i, set := range o.Sets {
		if set.Record == nil {
			continue
		}
		pods := o.Facts.Sets[i].Pods
		for at := range pods {
			pod := o.Pods[pods[at].Pod]
			pods[at].PeersMove = pod != nil && !pods[at].Updated && PeersMove(of, pod, etcdconf.PodOfTemplate(set.StatefulSet))
		}
	}
}
