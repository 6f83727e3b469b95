// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// counts are the numbers of a cluster that the rows of the table use.
type counts struct {
	name   string
	n      int            // the cluster's size, learners included
	pod    *policy.Member // the member that is to be evicted, nil if the pod is none
	voters int            // the most that may have a vote
	needed int            // the quorum of those
	stay   int            // how many healthy ones must stay for one, whichever of learning vote

	healthy    int      // voters that are ready, have a Ready pod, and are not leaving
	left       int      // the same without the pod
	takesVoter bool     // the pod is one of the healthy voters, or may be on a lost node
	readyPods  int      // Ready pods of voters without the pod, and without those that leave or whose node is lost
	unhealthy  []string // the other voters that are not healthy
	mayRun     int      // how many of them may run on lost nodes
	nodesLost  string   // which of their nodes are lost
	learning   []string // those of left that may be learners
	leaving    []string // healthy voters without the pod, and with an eviction under way
	removed    []string // healthy voters without the pod, and without a replica
	missing    int      // members of n without a pod and without a lease
}

func count(f Facts) counts {
	c := f.Cluster
	t := counts{name: c.Namespace + "/" + c.Name, n: max(c.Size, len(c.Members))}
	t.voters, t.missing = t.n, t.n-len(c.Members)
	leaving := map[string]bool{}
	for _, u := range f.UnderWay {
		leaving[u.Pod] = leaving[u.Pod] || u.counted()
	}
	for i := range c.Members {
		m := &c.Members[i]
		if m.Pod == f.Pod {
			t.pod = m
		}
		if m.Learner {
			t.voters--
			continue
		}
		t.add(m, f.Settle, m.Pod == f.Pod, leaving[m.Pod], slices.Contains(f.Removed, m.Pod))
	}
	t.nodesLost = policy.NodesLost(c.Members)
	voters := t.voters
	if t.pod != nil && t.pod.Learner {
		voters++ // it may have been promoted since, and its vote counts then
	}
	t.needed, t.stay = policy.Quorum(voters), policy.ReadyNeeded(voters, len(t.learning))
	return t
}

// add counts a voter. evicted is true for the pod that is to be evicted, leaving for one with an
// eviction under way, and removed for one without a replica.
func (t *counts) add(m *policy.Member, settle time.Duration, evicted, leaving, removed bool) {
	pod := m.Exists && m.PodReady
	if pod && m.NodeLost == "" && !evicted && !leaving && !removed {
		t.readyPods++
	}
	switch {
	case !m.Ready || !pod:
		t.unhealthy = append(t.unhealthy, m.Pod)
		t.mayBe(m, evicted && pod)
	case evicted:
		t.takesVoter = true
		t.healthy++
	case removed:
		t.removed = append(t.removed, m.Pod)
	case leaving:
		t.leaving = append(t.leaving, m.Pod)
	default:
		t.healthy++
		t.left++
		if m.MayLearn(settle) {
			t.learning = append(t.learning, m.Pod)
		}
	}
}

// mayBe counts a voter that is not healthy and may run on a lost node. takes is true if its Ready pod is to be evicted.
func (t *counts) mayBe(m *policy.Member, takes bool) {
	if m.MayRun {
		t.mayRun++
		t.takesVoter = t.takesVoter || takes
	}
}

// podReady reports whether the pod that is to be evicted is Ready.
func (t counts) podReady() bool { return t.pod.Exists && t.pod.PodReady }

func (t counts) allow(reason policy.Reason, format string, args ...any) Result {
	return Result{Verdict: policy.Allow(reason, "etcd cluster %s: %s", t.name, fmt.Sprintf(format, args...))}
}

// refuse returns a refusal with the numbers of the cluster.
func (t counts) refuse(reason policy.Reason, format string, args ...any) Result {
	return Result{Verdict: policy.Refuse(reason, "etcd cluster %s: %s, and quorum is %d: %s", t.name, t.state(), t.needed, fmt.Sprintf(format, args...))}
}

// state describes how many voters are healthy, and which are not.
func (t counts) state() string {
	s := fmt.Sprintf("%d of %d voters are healthy", t.healthy, t.voters)
	var others []string
	if len(t.unhealthy) > 0 {
		others = append(others, policy.Names(slices.Clone(t.unhealthy), "is not", "are not")+t.nodesLost)
	}
	if t.missing > 0 {
		others = append(others, fmt.Sprintf("%d missing", t.missing))
	}
	if len(t.removed) > 0 {
		others = append(others, policy.Names(slices.Clone(t.removed), "has no replica any more", "have no replica any more"))
	}
	if len(t.leaving) > 0 {
		others = append(others, policy.Names(slices.Clone(t.leaving), "is being evicted", "are being evicted"))
	}
	if len(others) > 0 {
		s += " (" + strings.Join(others, "; ") + ")"
	}
	return s
}
