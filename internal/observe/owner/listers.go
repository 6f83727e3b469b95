// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// addListers counts the members of StatefulSets that list the cluster and that it does not list, as after
// a growth by member add. Where they are ready, they need not count: a majority of the others and all of
// them together are one of the whole. Those that are not ready count as members that are down, since the
// others alone may be just a majority. A list that is not true can only make the cluster stricter.
// others are the entries that the cluster lists, which count already.
func (o *Owner) addListers(group []listedSet, others map[etcdconf.Peer]bool) {
	listers := map[string]*listedSet{}
	for _, set := range group {
		for _, by := range set.listedBy {
			listers[by.sts.Name] = by
		}
	}
	for _, set := range group {
		delete(listers, set.sts.Name)
		if ref := metav1.GetControllerOf(set.sts); ref != nil && flavour.Controls(ref) {
			return // a known product made it, and makes all of its members
		}
	}
	for name, by := range listers {
		if slices.ContainsFunc(by.peers.Own, func(e etcdconf.Peer) bool { return others[e] }) {
			delete(listers, name)
			continue
		}
		o.Unready += by.notReady()
	}
	o.Unready = min(o.Unready, MaxMembersRead)
	o.Listers = slices.Sorted(maps.Keys(listers))
}

// notReady counts the members of a StatefulSet that are not ready. Without replicas, one may still be in
// etcd.
func (s *listedSet) notReady() int {
	members := max(1, min(int(ptr.Deref(s.sts.Spec.Replicas, 1)), MaxMembersRead))
	return max(0, members-int(s.sts.Status.ReadyReplicas))
}
