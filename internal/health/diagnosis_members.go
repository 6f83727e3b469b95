// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// recoveryMembers returns the members that the cluster should have, that have a pod, that etcd lists, or
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
		add(pod.Name, f.Owner.StatefulSet == "" || f.Owner.IsBeside(pod.Name))
	}
	for _, l := range f.Survey.Value.List {
		if f.listKnown() && f.podOf(l) == "" {
			out = append(out, f.withoutPodOf(l))
		}
	}
	for _, m := range f.Cluster.Value.Cluster.Members {
		if f.Owner.Product().RenewsLeases { // one that has a lease need not have a pod
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

// desired returns how many members the owner asks for.
func (f *Facts) desired() int {
	if e := f.Etcd.Value; e != nil {
		return int(e.Spec.Replicas)
	}
	return f.Size()
}

// memberPrefix returns what etcd-druid puts before the pod's name in a member's name.
func (f *Facts) memberPrefix() string {
	if e := f.Etcd.Value; e != nil && e.Spec.MemberNamePrefix != nil && *e.Spec.MemberNamePrefix != "" {
		return *e.Spec.MemberNamePrefix + "-"
	}
	return ""
}

// podOf returns the pod that runs a member of the list or will run it again, empty for none.
func (f *Facts) podOf(l etcd.Listed) string {
	return cmp.Or(l.Pod, l.DuePod(f.Owner, f.Survey.Value.List))
}

// withoutPodOf returns a member of the list that no pod of the cluster runs. Another workload may run it.
func (f *Facts) withoutPodOf(l etcd.Listed) recovery.Member {
	m := recovery.Member{Name: f.nameOf(l), Pod: recovery.PodMissing, Listed: listedAs(l)}
	if again, _ := f.stoppedAs(l); again != "" {
		m.Returns, m.Data = true, recovery.DataUnread
	}
	m.MayRemove, m.Removable = f.MayRemove[l.ID].Allowed, f.removable(l)
	m.Lease, m.Since = f.leaseState(f.memberPrefix() + called(l))
	if f.runsElsewhere(l) {
		f.elsewhere(&m, l)
	}
	return m
}

// restarts reports whether a StatefulSet creates a pod again with its data, and the pod doesn't take its
// member out of etcd when it stops.
func (f *Facts) restarts(pod *corev1.Pod) bool {
	return !f.Owner.WithoutStatefulSet() && !f.Owner.IsBeside(pod.Name) && !static(pod) && !f.leavesData(pod) && !slices.ContainsFunc(f.Owner.MemberChanges, etcdconf.MemberChange.AtStop)
}

// nameOf returns the name of a member of the list, or its ID where another one has the same name.
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

// recoveryMember returns the member of a pod, which may not exist.
func (f *Facts) recoveryMember(name string, asked bool) recovery.Member {
	m := recovery.Member{Name: name, Asked: asked}
	pod := f.pod(name)
	m.Pod, m.Detail = f.podState(pod)
	m.SidecarWaits = m.Pod == recovery.PodUnready && podstate.Of(pod).Container != ""
	var renewed time.Time
	if f.Owner.Product().RenewsLeases {
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

// podState returns the state of a pod, and why it is not Ready.
func (f *Facts) podState(pod *corev1.Pod) (recovery.Pod, string) {
	switch {
	case f.Pods.Err != nil:
		return recovery.PodUnseen, ""
	case pod == nil:
		return recovery.PodMissing, "there is no pod"
	}
	p := podstate.Of(pod)
	switch {
	case p.State == podstate.PodTerminating:
		return recovery.PodStopping, cmp.Or(podstate.DeletionStuck(pod, f.nodeLost(pod.Name), f.At), p.String())
	case p.State == podstate.PodPending || pod.Spec.NodeName == "":
		return recovery.PodPending, cmp.Or(p.Detail, "it has no node yet")
	case p.Container != "" && !memberRuns(pod):
		return recovery.PodWaiting, p.String()
	case p.Container != "":
		return recovery.PodUnready, p.String()
	case podstate.Ready(pod):
		return recovery.PodReady, ""
	}
	return recovery.PodUnready, cmp.Or(p.Detail, p.String())
}

// memberRuns reports whether the container that is known to be the member's runs, whatever the others in its pod do.
func memberRuns(pod *corev1.Pod) bool {
	c := etcdconf.MemberOf(pod).Container
	if c == nil {
		return false
	}
	_, running := podstate.ContainerSince(pod, c.Name)
	return running
}

func (f *Facts) statusOf(m *recovery.Member) {
	if f.Etcd.Value == nil {
		return
	}
	for _, s := range f.Etcd.Value.Status.Members {
		if s.Name == f.memberPrefix()+m.Name {
			m.Status, m.StatusSince = recovery.Status(s.Status), s.LastTransitionTime.Time
		}
	}
}

// answerOf adds what the member answers. Silence counts only if the machine that asks can reach
// others, and the leader doesn't receive messages from the member.
func (f *Facts) answerOf(m *recovery.Member) {
	i := slices.IndexFunc(f.Survey.Value.Members, func(a etcd.Member) bool { return a.Pod == m.Name })
	if f.noneAnswers() && m.Pod == recovery.PodReady {
		m.Answer = recovery.Unreachable
		if i >= 0 {
			m.Detail = cmp.Or(m.Detail, etcd.Reason(f.Survey.Value.Members[i].Err))
		}
		return
	}
	if f.Survey.Err == nil && i >= 0 {
		f.answerIs(m, f.Survey.Value.Members[i])
	}
}

// answerIs adds what a member answered, while others may have answered, too.
func (f *Facts) answerIs(m *recovery.Member, a etcd.Member) {
	v := f.voters()
	switch {
	case f.Survey.Value.Healthy(a):
		m.Answer = recovery.Follows
	case a.Err == nil:
		m.Answer, m.Detail = recovery.NoLeader, "it answers and follows no common leader"
	case a.ID != 0: // it answers, and is not the one in the list
		m.Answer, m.Listed, m.Detail = recovery.NoLeader, recovery.NotListed, etcd.Reason(a.Err)
		m.Ahead = f.Survey.Value.IsAhead(a)
	case f.Barred[m.Name] || v.ledElsewhere() || f.ContactWith(m.Name) >= membership.ContactActive:
	default:
		m.Answer = recovery.Silent
		m.Detail = cmp.Or(m.Detail, etcd.Reason(a.Err))
	}
	if leader, ok := f.Survey.Value.Leader(); ok && a.Err == nil {
		m.CaughtUp = a.CaughtUpTo(leader.RaftIndex)
	}
}

// listOf adds whether etcd's list has the member. If the list has members that fit no pod, a pod
// that fits none may be one of them.
func (f *Facts) listOf(m *recovery.Member) {
	if !f.listKnown() || m.Listed == recovery.NotListed {
		return
	}
	for _, l := range f.Survey.Value.List {
		if f.podOf(l) == m.Name {
			m.Listed, m.MayRemove, m.Removable = listedAs(l), f.MayRemove[l.ID].Allowed, false
			m.Predates, m.OlderVolume = f.predates(l), f.olderVolume(l)
			return
		}
	}
	if !slices.ContainsFunc(f.Survey.Value.List, func(l etcd.Listed) bool { return f.podOf(l) == "" }) {
		m.Listed = recovery.NotListed
	}
}

// since is since when a member is not well: its pod is not Ready, or its lease is not renewed.
func since(pod *corev1.Pod, m recovery.Member, renewed time.Time) time.Time {
	if pod == nil || m.Pod == recovery.PodReady || m.Pod == recovery.PodUnseen {
		return renewed
	}
	switch ready := podstate.Condition(pod, corev1.PodReady); {
	case ready == nil:
		return pod.CreationTimestamp.Time
	case ready.Status == corev1.ConditionTrue && pod.DeletionTimestamp != nil: // it has been well until it was deleted
		return pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	default:
		return ready.LastTransitionTime.Time
	}
}
