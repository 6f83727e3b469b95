// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// removes reports whether the manager removes the members that leave with a write from etcd, or may. A manager of
// which only the chart's hooks remove members has done so if the write is the chart's.
func (w *Workload) removes(m flavour.Membership, s ScaleWrite) bool {
	return m.RemovesMembers || m.RemovesUnlisted && w.unlists(s)
}

// unlists reports whether a write takes each member that leaves out of the list in the pod template, as the chart's own
// write does. Other clients write the replicas alone. With no replicas before, no member could have been removed.
func (w *Workload) unlists(s ScaleWrite) bool {
	if s.TemplateNow == nil || s.Template == nil || s.Asked >= s.Now || s.First != s.FirstNow {
		return false
	}
	for _, sts := range w.Sets() {
		if sts.Name == s.Name {
			return unlists(sts, s)
		}
	}
	return false
}

func unlists(sts *appsv1.StatefulSet, s ScaleWrite) bool {
	before, known := membersListedIn(sts, s.TemplateNow)
	after, knownAfter := membersListedIn(sts, s.Template)
	if !known || !knownAfter || len(after) == 0 && s.Asked > 1 { // a member that is alone needs no list
		return false
	}
	o := owner.OfStatefulSet(sts)
	for ordinal := s.Asked; ordinal < s.Now; ordinal++ {
		if pod := o.PodName(ordinal); !before[pod] || after[pod] {
			return false
		}
	}
	return true
}

// membersListedIn returns the names of the members that a template of a StatefulSet lists, and whether they are known.
func membersListedIn(sts *appsv1.StatefulSet, template *corev1.PodTemplateSpec) (names map[string]bool, known bool) {
	peers := etcdconf.PeersOfPod(etcdconf.NextPod(sts, template, owner.OfStatefulSet(sts).PodName(0)))
	names = map[string]bool{}
	for _, p := range peers.Listed {
		names[p.Name] = true
	}
	return names, peers.Unknown == ""
}
