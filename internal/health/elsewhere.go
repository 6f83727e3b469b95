// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// Desired returns how many members the cluster should have: those of its own workloads, and those of etcd's list that pods
// of other workloads run.
func (f *Facts) Desired() int {
	n := f.Size()
	for _, l := range f.Survey.Value.List {
		n += toInt(f.PodElsewhere(l) != "")
	}
	return n
}

// PodElsewhere returns the pod of another workload that runs a member of the list, or may run it, empty for none.
func (f *Facts) PodElsewhere(l etcd.Listed) string {
	if pods := f.Silences[l.ID].Elsewhere; f.withoutWorkload(l) && len(pods) > 0 {
		return pods[0]
	}
	return ""
}

// runsElsewhere reports whether a member of the list belongs to another workload: a pod of one has its name or
// address, or the leader receives messages from it.
func (f *Facts) runsElsewhere(l etcd.Listed) bool {
	return f.PodElsewhere(l) != "" || f.withoutWorkload(l) && f.Silences[l.ID].Contact >= membership.ContactActive
}

// elsewhere sets how a member of another workload is. The cluster should have it. If the leader shows nothing of it,
// it is not known whether it is well.
func (f *Facts) elsewhere(m *recovery.Member, l etcd.Listed) {
	m.Asked = true
	contact, name := f.Silences[l.ID].Contact, f.PodElsewhere(l)
	if name != "" {
		m.Pod = recovery.PodUnseen
	}
	if pod := PodNamed(f.Elsewhere, name); pod != nil {
		m.Pod, m.Detail = f.podState(pod)
		m.Since = since(pod, *m, m.Since)
	}
	switch {
	case contact >= membership.ContactActive:
		m.Answer = recovery.Follows
	case contact == membership.ContactNone, contact == membership.ContactSilent:
		m.Answer, m.OutOfContact = recovery.Silent, true
	}
	other, answers := f.Survey.Value.Other(l.ID)
	if leader, ok := f.Survey.Value.Leader(); ok && answers {
		m.CaughtUp = other.CaughtUpTo(leader.RaftIndex)
	}
}

// inspectElsewhere returns the command that shows why a member of another workload is not well, empty for any other name.
func (f *Facts) inspectElsewhere(name string) string {
	l, is := f.memberOf(name)
	if !is || f.PodElsewhere(l) == "" {
		return ""
	}
	if pod := PodNamed(f.Elsewhere, f.PodElsewhere(l)); pod != nil {
		return f.describe(pod)
	}
	return f.kubectl("describe pod " + f.PodElsewhere(l))
}

func toInt(is bool) int {
	if is {
		return 1
	}
	return 0
}
