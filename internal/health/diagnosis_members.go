// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// recoveryMembers are the members that the cluster should have, that have a pod, that etcd lists, or
// that an Etcd has leases or entries of.
func (f *Facts) recoveryMembers() []recovery.Member {
	var out []recovery.Member
	add := func(name string, asked bool) {
		if name != "" && !slices.ContainsFunc(out, func(m recovery.Member) bool { return m.Name == name }) {
			out = append(out, f.recoveryMember(name, asked))
		}
	}
	if f.Owner.StatefulSet != "" {
		for i := range f.desired() {
			add(f.Owner.PodName(i), true)
		}
	}
	for _, pod := range f.Pods.Value {
		add(pod.Name, f.Owner.StatefulSet == "")
	}
	for _, l := range f.Survey.Value.List {
		if f.listKnown() && f.podOf(l) == "" {
			out = append(out, f.withoutPodOf(l))
		}
	}
	for _, m := range f.Cluster.Value.Cluster.Members {
		if f.Owner.OfDruid() {
			add(m.Pod, false)
		}
	}
	if e := f.Etcd.Value; e != nil {
		for _, m := range e.Status.Members {
			add(strings.TrimPrefix(m.Name, f.memberPrefix()), false)
		}
	}
	if len(out) > 0 {
		out[0].First = true
	}
	return out
}

// desired is how many members the owner asks for.
func (f *Facts) desired() int {
	if e := f.Etcd.Value; e != nil {
		return int(e.Spec.Replicas)
	}
	return f.Size()
}

// memberPrefix is what etcd-druid puts before the pod's name in a member's name.
func (f *Facts) memberPrefix() string {
	if e := f.Etcd.Value; e != nil && e.Spec.MemberNamePrefix != nil && *e.Spec.MemberNamePrefix != "" {
		return *e.Spec.MemberNamePrefix + "-"
	}
	return ""
}

// podOf is the pod that runs a member of the list or will run it again, empty for none.
func (f *Facts) podOf(l etcd.Listed) string { return cmp.Or(l.Pod, l.DuePod(f.Owner)) }

// withoutPodOf is a member of the list that no pod of the cluster runs. One from which the leader
// receives messages runs elsewhere.
func (f *Facts) withoutPodOf(l etcd.Listed) recovery.Member {
	m := recovery.Member{Name: f.nameOf(l), Pod: recovery.PodMissing, Listed: listedAs(l)}
	if f.Silences[l.ID].Contact >= membership.ContactActive {
		m.Asked, m.Answer = true, recovery.Follows
	}
	if again, _ := f.stoppedAs(l); again != "" {
		m.Returns, m.Data = true, recovery.DataUnread
	}
	m.MayRemove, m.Removable = f.MayRemove[l.ID].Allowed, f.removable(l)
	m.Lease, m.Since = f.leaseState(f.memberPrefix() + called(l))
	return m
}

// restarts reports whether a StatefulSet creates a pod again with its data, and the pod doesn't take its
// member out of etcd when it stops.
func (f *Facts) restarts(pod *corev1.Pod) bool {
	return !f.Owner.WithoutStatefulSet() && !static(pod) && !f.leavesData(pod) && !slices.ContainsFunc(f.Owner.MemberChanges, etcdconf.MemberChange.AtStop)
}

// nameOf is the name of a member of the list, or its ID where another one has the same name.
func (f *Facts) nameOf(l etcd.Listed) string {
	if slices.ContainsFunc(f.Survey.Value.List, func(o etcd.Listed) bool { return o.ID != l.ID && o.Name == l.Name }) {
		return id(l)
	}
	return called(l)
}

func listedAs(l etcd.Listed) recovery.Listed {
	if l.Learner {
		return recovery.Learner
	}
	return recovery.Voter
}

// recoveryMember is the member of a pod, which may not exist.
func (f *Facts) recoveryMember(name string, asked bool) recovery.Member {
	m := recovery.Member{Name: name, Asked: asked}
	pod := f.pod(name)
	m.Pod, m.Detail = f.podState(pod)
	var renewed time.Time
	if f.Owner.OfDruid() {
		m.Lease, renewed = f.leaseState(f.memberPrefix() + name)
		f.statusOf(&m)
	}
	f.answerOf(&m)
	f.listOf(&m)
	m.Since = since(pod, m, renewed)
	m.Data, m.Damage = f.dataOf(name, pod)
	contact := f.ContactWith(name)
	m.OutOfContact = contact == membership.ContactNone || contact == membership.ContactSilent
	m.Restarts = pod != nil && f.restarts(pod)
	if pod != nil {
		if c := etcdContainer(pod); c != nil {
			m.Liveness = c.LivenessProbe != nil
		}
	}
	return m
}
