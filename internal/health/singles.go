// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// etcdsOfTheirOwn reports whether the pods of a StatefulSet run an etcd each, which are no cluster: each lists itself
// alone, and no pod has a list that names others. If one has, the cluster fell apart.
func (f *Facts) etcdsOfTheirOwn() bool {
	if !f.Survey.Value.Singles || f.Owner.StatefulSet == "" {
		return false
	}
	for _, m := range f.Responding() {
		got, has := f.Serving[m.Pod]
		if !has || got.Err != nil || !got.Value.NamesNoPeers() && !f.Owner.ListSelf {
			return false
		}
	}
	return true
}

// describeSingles returns the finding about etcds that are no cluster. A restore would give all of them the data of one.
func (f *Facts) describeSingles() Finding {
	var pods []string
	for _, m := range f.Responding() {
		pods = append(pods, m.Pod)
	}
	declare := "if that is intended, declare it: " + f.kubectl("annotate statefulset "+f.Owner.StatefulSet+" "+v1alpha1.EtcdAnnotation+"="+v1alpha1.NotEtcd)
	found := warning(declare, "each pod is an etcd of its own, not a member of one cluster: %s each list themselves alone, and their pod template lists no other member. Each has its own data, so don't restore them from one snapshot", policy.List(pods))
	found.Reason = reasons.SeparateEtcds
	return found
}
