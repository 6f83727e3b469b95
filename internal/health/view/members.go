// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// describeMembers returns the pods by ordinal, with those that are expected or gone, and after
// them the entries of etcd's list that other pods run, or none.
func describeMembers(f *health.Facts) []v1alpha1.MemberStatus {
	out := []v1alpha1.MemberStatus{} // the document has the list also where it is empty
	for _, name := range memberNames(f) {
		out = append(out, member(f, name))
	}
	for _, l := range f.Survey.Value.List {
		if l.Pod != "" && health.PodNamed(f.Pods.Value, l.Pod) != nil {
			continue
		}
		m := v1alpha1.MemberStatus{ID: etcd.FormatID(l.ID), Name: l.Name, Role: roleName(l.Learner, false), State: StateNoPod}
		if name := f.PodElsewhere(l); name != "" {
			elsewhere(f, &m, l, name)
		}
		if at := slices.IndexFunc(out, func(o v1alpha1.MemberStatus) bool {
			return o.ID == "" && o.Pod != "" && o.State == StateNoPod && isOf(l, o.Pod)
		}); at >= 0 {
			m.Pod = out[at].Pod
			out[at] = m
			continue
		}
		out = append(out, m)
	}
	return out
}

// elsewhere sets what is known of a member that a pod of another workload runs.
func elsewhere(f *health.Facts, m *v1alpha1.MemberStatus, l etcd.Listed, name string) {
	m.Pod, m.State = name, stateNoAnswer
	if pod := health.PodNamed(f.Elsewhere, name); pod != nil {
		m.Node, m.PodReady, m.Restarts = pod.Spec.NodeName, podstate.Ready(pod), restarts(pod)
		problem := podstate.Of(pod)
		m.State, m.Detail = cmp.Or(problem.State, stateNoAnswer), problem.Detail
	}
	if answer, ok := f.Survey.Value.Other(l.ID); ok {
		if m.State == stateNoAnswer {
			m.State = v1alpha1.StateOK
		}
		addAnswer(m, answer, furthest(f))
	}
}

// isOf reports whether an entry of the member list belongs to a pod that isn't there, by its
// name and its peer URL.
func isOf(l etcd.Listed, pod string) bool {
	return l.Name == pod || slices.ContainsFunc(l.PeerURLs, func(u string) bool { return strings.Contains(u, "://"+pod+".") })
}

// memberNames returns the pods that are there or should be, by ordinal.
func memberNames(f *health.Facts) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, p := range f.Pods.Value {
		add(p.Name)
	}
	for _, m := range f.Cluster.Value.Cluster.Members {
		add(m.Pod)
	}
	if f.Owner.StatefulSet != "" {
		for i := range int(f.Owner.Replicas) {
			add(f.Owner.PodName(i))
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(f.Owner.Ordinal(a), f.Owner.Ordinal(b)), cmp.Compare(a, b))
	})
	return names
}

// member returns the member of one pod, with what it answered.
func member(f *health.Facts, name string) v1alpha1.MemberStatus {
	m := v1alpha1.MemberStatus{Pod: name}
	members := f.Cluster.Value.Cluster.Members
	if i := slices.IndexFunc(members, func(m policy.Member) bool { return m.Pod == name }); i >= 0 {
		m.PodReady, m.Node = members[i].PodReady, members[i].Node
		if members[i].Leader && len(f.Responding()) == 0 {
			m.Role = v1alpha1.RoleLeader // by its lease
		}
	}
	if i := slices.IndexFunc(f.Placement.Value, func(m policy.Member) bool { return m.Pod == name }); i >= 0 {
		m.Node, m.Zone = f.Placement.Value[i].Node, f.Placement.Value[i].Zone
	}
	pod := health.PodNamed(f.Pods.Value, name)
	switch {
	case pod == nil && (Missing(f.Unseen, "pods") || Missing(f.Unseen, "statefulsets.apps")):
		m.State = stateUnseen
		return m
	case pod == nil:
		m.State = StateNoPod
		return m
	}
	m.Restarts = restarts(pod)
	problem := podstate.Of(pod)
	m.State, m.Detail = cmp.Or(problem.State, v1alpha1.StateOK), problem.Detail
	survey := f.Survey.Value
	if i := slices.IndexFunc(survey.Members, func(m etcd.Member) bool { return m.Pod == name }); i >= 0 {
		addAnswer(&m, survey.Members[i], furthest(f))
	}
	// A pod that is Pending has not had the time to join, so that state comes first.
	if (problem.Crashing() || m.State == stateNoAnswer) && slices.Contains(survey.NonMemberPods(), name) {
		m.State, m.Detail = stateNoMember, "it is not in etcd's member list: it was removed, or has not joined yet"
	}
	return m
}

// addAnswer adds what a member answered. furthest is the last raft entry of any member.
func addAnswer(m *v1alpha1.MemberStatus, answer etcd.Member, furthest uint64) {
	if answer.Err != nil {
		noAnswer(m, answer.Err)
		if answer.ID == 0 {
			return
		}
	}
	m.Answered = answer.Err == nil
	m.ID, m.Name, m.Version, m.Alarms = etcd.FormatID(answer.ID), answer.Name, answer.Version, answer.Alarms
	m.Role = roleName(answer.Learner, answer.Leader)
	m.DBSize, m.DBSizeInUse, m.Quota = answer.DBSize, answer.DBSizeInUse, answer.Quota
	m.RaftIndex, m.RaftApplied = answer.RaftIndex, answer.RaftApplied
	if !answer.CertificateExpiry.IsZero() {
		m.CertificateExpiry = v1alpha1.TimeOf(answer.CertificateExpiry)
	}
	if !m.Answered {
		return
	}
	lag := furthest - min(answer.RaftApplied, furthest)
	m.Lag = &lag
	switch {
	case m.State != v1alpha1.StateOK && m.State != podstate.PodUnready:
	case answer.LeaderID == 0:
		m.State, m.Detail = stateNoLeader, "it can't reach the others, or there is no quorum"
	case len(answer.Alarms) > 0:
		m.State = strings.Join(answer.Alarms, " ")
	case len(answer.Errors) > 0:
		m.State, m.Detail = stateError, strings.Join(answer.Errors, "; ")
	case answer.Learner:
		// A learner is not Ready: that is no problem.
		m.State, m.Detail = v1alpha1.StateOK, ""
	}
}

// noAnswer sets why a member gave no answer, unless its pod shows it.
func noAnswer(m *v1alpha1.MemberStatus, err error) {
	switch {
	case m.State != v1alpha1.StateOK && m.State != podstate.PodUnready:
	case apierrors.IsForbidden(err) && m.State == podstate.PodUnready: // nothing more is known
	case apierrors.IsForbidden(err):
		m.State, m.Detail = stateNotAsked, etcd.Reason(err)
	default:
		m.State, m.Detail = stateNoAnswer, etcd.Reason(err)
	}
}

// furthest returns the last raft entry that any member has.
func furthest(f *health.Facts) uint64 {
	var index uint64
	for _, m := range f.Responding() {
		index = max(index, m.RaftIndex)
	}
	return index
}

// roleName returns the role of a member, as the API has it.
func roleName(learner, leader bool) string {
	switch {
	case leader:
		return v1alpha1.RoleLeader
	case learner:
		return v1alpha1.RoleLearner
	}
	return v1alpha1.RoleVoter
}

// The states of a member, beside OK, those of its pod, and the names of alarms.
const (
	StateNoPod    = "no pod"
	stateNoMember = "no member"
	stateUnseen   = "not seen"
	stateNoAnswer = "no answer"
	stateNotAsked = "not asked"
	stateNoLeader = "no leader"
	stateError    = "error"
)

// restarts counts the restarts of a pod's containers.
func restarts(pod *corev1.Pod) int32 {
	var n int32
	for _, c := range containers.Statuses(pod) {
		n += c.RestartCount
	}
	return n
}
