// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package policytest has what the tests of several rules share: clusters written
// as letters, and the comparison of a rule's tests with its page in docs/rules.
package policytest

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Kinds are the letters that members are written with, one for each. Voters:
//
//	v  well: the member is ready and so is its pod
//	x  down: neither is
//	p  the pod is Ready, the member is not
//	m  the member is ready, its pod is not
//
// Learners are the same in capitals.
const Kinds = "vxpmVXPM"

// ClusterOf returns a cluster of members written as [Kinds]. In addition, - is a
// member that is missing, j one that is well, has joined and may be a learner, and + a Ready pod under the budget that is no member.
func ClusterOf(members string) policy.Cluster {
	c := policy.Cluster{Namespace: "shoot", Name: "main", Target: "etcd/main", Size: len(members)}
	for _, letter := range members {
		switch letter {
		case '+':
			c.NonMemberPods++
			c.Size--
		case '-':
		default:
			kind := strings.ToLower(string(letter))
			c.Members = append(c.Members, policy.Member{
				Pod:      fmt.Sprintf("main-%d", len(c.Members)),
				Exists:   true,
				PodReady: strings.Contains("vpj", kind),
				Ready:    strings.Contains("vmj", kind),
				Joined:   kind == "j",
				Learner:  kind != string(letter),
			})
		}
	}
	return c
}

// ReasonsOf returns the names of the notes' reasons.
func ReasonsOf(notes []policy.Note) string {
	var reasons []string
	for _, n := range notes {
		reasons = append(reasons, n.Reason.Name())
	}
	return strings.Join(reasons, " ")
}

// ToInt returns 1 for true and 0 for false.
func ToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
