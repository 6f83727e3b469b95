// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// podState is the state of a pod, and why it is not Ready.
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
		return recovery.PodStopping, p.String()
	case p.State == podstate.PodPending || pod.Spec.NodeName == "":
		return recovery.PodPending, cmp.Or(p.Detail, "it has no node yet")
	case p.Container != "":
		return recovery.PodWaiting, p.String()
	case podstate.Ready(pod):
		return recovery.PodReady, ""
	}
	return recovery.PodUnready, cmp.Or(p.Detail, p.String())
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
	v := f.voters()
	i := slices.IndexFunc(f.Survey.Value.Members, func(a etcd.Member) bool { return a.Pod == m.Name })
	if f.Survey.Err != nil || i < 0 {
		return
	}
	a := f.Survey.Value.Members[i]
	switch {
	case a.Err == nil && a.LeaderID != 0 && a.LeaderID == v.leader:
		m.Answer = recovery.Follows
	case a.Err == nil:
		m.Answer, m.Detail = recovery.NoLeader, "it answers and follows no common leader"
	case a.ID != 0: // it answers, and is not the one in the list
		m.Answer, m.Listed, m.Detail = recovery.NoLeader, recovery.NotListed, etcd.Reason(a.Err)
	case f.Barred[m.Name] || f.onlyUnreachable() || v.ledElsewhere() || f.ContactWith(m.Name) >= membership.ContactActive:
	default:
		m.Answer = recovery.Silent
		m.Detail = cmp.Or(m.Detail, etcd.Reason(a.Err))
	}
	if leader, ok := f.Survey.Value.Leader(); ok && a.Err == nil {
		m.CaughtUp = a.RaftApplied+policy.LagLimit >= leader.RaftIndex
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
			return
		}
	}
	if !slices.ContainsFunc(f.Survey.Value.List, func(l etcd.Listed) bool { return f.podOf(l) == "" }) {
		m.Listed = recovery.NotListed
	}
}

// since is since when a member is not well: its pod is not Ready, or its lease is not renewed.
func since(pod *corev1.Pod, m recovery.Member, renewed time.Time) time.Time {
	switch {
	case pod == nil || m.Pod == recovery.PodReady || m.Pod == recovery.PodUnseen:
		return renewed
	case podstate.Condition(pod, corev1.PodReady) != nil:
		return podstate.Condition(pod, corev1.PodReady).LastTransitionTime.Time
	}
	return pod.CreationTimestamp.Time
}
