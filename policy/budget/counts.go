// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// most is more members, or strangers, than any cluster has. A budget's numbers
// have 32 bits.
const most = 1 << 29

// counts is a cluster counted: everything that the budget's rows speak of.
type counts struct {
	n      int // the cluster's size, learners included
	quorum int // of n
	voters int // the most that may have a vote: n without the known learners

	readyMembers  int // M: voters that are ready
	readyPods     int // R: voters' pods that are Ready
	agree         int // voters that are ready and have a Ready pod
	readyLearners int // learners' pods that are Ready
	nonMemberPods int

	missing int // members of n that have neither pod nor lease

	down                 []string // not ready, pod not Ready: these should be free to go
	readyPodButNotMember []string // not ready, pod Ready
	memberReadyPodNot    []string // ready, pod not Ready
	notReady             []string // down and impostors, in order
	allMembers           bool     // the condition AllMembersReady is not False
}

func count(c policy.Cluster) counts {
	t := counts{
		n:             min(max(c.Size, len(c.Members)), most),
		nonMemberPods: min(max(c.NonMemberPods, 0), most),
		allMembers:    c.AllMembersReady.Value() != policy.False,
	}
	t.quorum = policy.Quorum(t.n)
	t.voters = t.n
	t.missing = t.n - len(c.Members)
	for _, m := range c.Members {
		t.add(m)
	}
	return t
}

func (t *counts) add(m policy.Member) {
	pod := m.Exists && m.PodReady
	switch {
	case m.Ready && !pod:
		t.memberReadyPodNot = append(t.memberReadyPodNot, m.Pod)
	case !m.Ready && pod:
		t.readyPodButNotMember = append(t.readyPodButNotMember, m.Pod)
	case !m.Ready && !pod:
		t.down = append(t.down, m.Pod)
	}
	if !m.Ready {
		t.notReady = append(t.notReady, m.Pod)
	}
	if m.Learner {
		t.voters--
		if pod {
			t.readyLearners++
		}
		return
	}
	if m.Ready {
		t.readyMembers++
	}
	if pod {
		t.readyPods++
	}
	if m.Ready && pod {
		t.agree++
	}
}

// healthy is what the disruption controller counts as currentHealthy. As
// minAvailable it lets unready pods go, all of them, and no Ready one.
func (t counts) healthy() int { return t.readyPods + t.readyLearners + t.nonMemberPods }

// complete says that leases and pods show every member well.
func (t counts) complete() bool {
	return t.missing == 0 && len(t.notReady) == 0 && len(t.memberReadyPodNot) == 0
}

// everyPod lets nobody go: learners are among the n, strangers are not.
func (t counts) everyPod() int { return t.n + t.nonMemberPods }

// quorumOnly lets voters go down to a quorum. Ready learners and strangers are
// no voters, but the disruption controller counts them, so they come on top.
func (t counts) quorumOnly() int { return min(t.quorum+t.readyLearners, t.n) + t.nonMemberPods }
