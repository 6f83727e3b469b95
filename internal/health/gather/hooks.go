// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// changesOfPods reads what pods that no StatefulSet made execute, also by scripts that they mount. The owner of a
// StatefulSet has been read with these.
func (g *gatherer) changesOfPods(ctx context.Context) {
	pods := slices.DeleteFunc(slices.Clone(g.Pods.Value), func(p *corev1.Pod) bool { return !g.Owner.WithoutStatefulSet() && !g.Owner.IsBeside(p.Name) })
	if g.forStatus || len(pods) == 0 {
		return
	}
	contents := podfiles.New(g.Reader, g.Owner.Namespace).Contents(ctx)
	of := func(pod *corev1.Pod) []etcdconf.MemberChange { return etcdconf.MemberChanges(pod, contents) }
	if g.Owner.WithoutStatefulSet() {
		g.Owner.MemberChanges = owner.ChangesOfPods(pods, of)
		return
	}
	for _, pod := range pods {
		for _, change := range of(pod) {
			if change.Workload = owner.OfPod(pod).Name; !slices.Contains(g.Owner.MemberChanges, change) {
				g.Owner.MemberChanges = append(slices.Clip(g.Owner.MemberChanges), change)
			}
		}
	}
}
