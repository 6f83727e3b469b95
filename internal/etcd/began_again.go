// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// Predates reports whether a voter that doesn't answer ran before the log of those that answer began. Each member
// publishes its client URLs in the log when it starts. So a voter of the list without any, which has a name and hence
// was in the first configuration, has never started in this log, although its pod shows that it runs for longer than
// each member that answers. since returns when the etcd of a pod started, and false for unknown, which is no evidence.
func (s Survey) Predates(l Listed, since func(pod string) (time.Time, bool)) bool {
	if l.Pod == "" || !l.neverStarted() {
		return false
	}
	if !slices.ContainsFunc(s.Members, func(m Member) bool { return m.Pod == l.Pod && m.Err != nil && m.ID == 0 }) {
		return false
	}
	ran, known := since(l.Pod)
	answered := false
	for _, m := range s.Members {
		if m.Err != nil {
			continue
		}
		started, seen := since(m.Pod)
		if !seen || started.Sub(ran) < owner.RanLonger {
			return false
		}
		answered = true
	}
	return known && answered
}

// neverStarted reports whether a voter was in the first configuration of the log of those that answer, and has never
// started in it.
func (l Listed) neverStarted() bool { return l.Name != "" && !l.Learner && len(l.ClientURLs) == 0 }

// IsAhead reports whether a member that the list lacks answers, in the same etcd cluster, and is ahead of the leader. A
// member that was removed from etcd never is. So the leader began again without data, with the same cluster ID, since
// that is computed from the flags: its list is not that of the cluster, and the other member may have the only data.
func (s Survey) IsAhead(m Member) bool {
	leader, ok := s.Leader()
	return ok && m.Err != nil && m.ID != 0 && m.ClusterID == leader.ClusterID && m.RaftIndex > leader.RaftIndex
}

// RunningSince returns a function that returns since when the etcd of a pod runs, and false where it doesn't run or
// where it is not known which container runs it.
func RunningSince(pods []*corev1.Pod) func(pod string) (time.Time, bool) {
	return func(name string) (time.Time, bool) {
		at := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return p.Name == name })
		if at < 0 {
			return time.Time{}, false
		}
		container := etcdconf.MemberOf(pods[at]).Container
		if container == nil {
			return time.Time{}, false
		}
		return podstate.ContainerSince(pods[at], container.Name)
	}
}
