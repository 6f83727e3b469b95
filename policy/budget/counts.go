// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// most is more members or other pods than any cluster has. A budget's numbers have 32 bits.
const most = 1 << 29

// counts are the numbers of a cluster that the rows of the table use.
type counts struct {
	n      int // the cluster's size, learners included
	quorum int // of n
	voters int // the most that may have a vote: n without the known learners

	readyMembers  int // M: voters that are ready
	readyPods     int // R: pods of voters that are Ready
	agree         int // voters that are ready and have a Ready pod
	readyLearners int // pods of learners that are Ready
	nonMemberPods int

	mayLearn []string      // those of agree that may be learners
	learnFor time.Duration // for how long at most

	missing int // members of n without a pod and without a lease

	down                 []string // not ready, pod not Ready: evictions of these should be possible
	readyPodButNotMember []string // not ready, pod Ready
	memberReadyPodNot    []string // ready, pod not Ready
	mayRun               []string // the same on a lost node, so that it is not known whether it is ready
	notReady             []string // down and readyPodButNotMember, in order
	nodesLost            string   // which of their nodes are lost
	allMembers           bool     // the condition AllMembersReady is not False
}

func count(c policy.Cluster, settle time.Duration) counts {
	t := counts{
		n:             min(max(c.Size, len(c.Members)), most),
		nonMemberPods: min(max(c.NonMemberPods, 0), most),
		allMembers:    c.AllMembersReady.Value() != policy.False,
	}
	t.quorum = policy.Quorum(t.n)
	t.voters = t.n
	t.missing = t.n - len(c.Members)
	for _, m := range c.Members {
		t.add(m, settle)
	}
	t.nodesLost = policy.NodesLost(c.Members)
	return t
}

func (t *counts) add(m policy.Member, settle time.Duration) {
	pod := m.Exists && m.PodReady
	t.sort(m, pod)
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
	if pod && m.MayLearn(settle) {
		t.mayLearn, t.learnFor = append(t.mayLearn, m.Pod), max(t.learnFor, settle-m.ReadyFor)
	}
}

// sort adds a member to the lists of those that are not well. pod is true if its pod is Ready.
func (t *counts) sort(m policy.Member, pod bool) {
	switch {
	case m.Ready && !pod:
		t.memberReadyPodNot = append(t.memberReadyPodNot, m.Pod)
	case !m.Ready && pod:
		t.readyPodButNotMember = append(t.readyPodButNotMember, m.Pod)
	case m.MayRun && !pod:
		t.mayRun = append(t.mayRun, m.Pod)
	case !m.Ready && !pod:
		t.down = append(t.down, m.Pod)
	}
	if !m.Ready {
		t.notReady = append(t.notReady, m.Pod)
	}
}

// healthy returns what the disruption controller counts as currentHealthy. As minAvailable, it
// allows the eviction of all unready pods and of no Ready pod.
func (t counts) healthy() int { return t.readyPods + t.readyLearners + t.nonMemberPods }

// complete reports whether leases and pods show that every member is ready.
func (t counts) complete() bool {
	return t.missing == 0 && len(t.notReady) == 0 && len(t.memberReadyPodNot) == 0
}

// everyPod returns the value that allows no eviction. n includes learners, but not other pods.
func (t counts) everyPod() int { return t.n + t.nonMemberPods }

// quorumOnly returns the value that allows evictions down to a quorum of voters, whichever of those that may be
// learners vote. The disruption controller also counts Ready learners and other pods, so they are added.
func (t counts) quorumOnly() int { return t.keeping(policy.ReadyNeeded(t.n, len(t.mayLearn))) }

// settled returns the same if all of those vote.
func (t counts) settled() int { return t.keeping(t.quorum) }

func (t counts) keeping(members int) int { return min(members+t.readyLearners, t.n) + t.nonMemberPods }
