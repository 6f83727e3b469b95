// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strings"
)

// LoseNode returns a member whose node is lost, for the reason why. It is not ready, whatever its pod, its lease and its
// last answer show: these are from before, or from a node that is only cut off. So a lost node may make a verdict
// stricter, and never looser: the member is neither one that is ready nor one that is sure to be down.
func (m Member) LoseNode(why string) Member {
	m.NodeLost, m.MayRun = why, m.Ready || m.PodReady
	m.Ready, m.JustReady = false, false
	return m
}

// MayHaveQuorum reports whether the voters that are ready are a quorum with those that may run on lost nodes.
func (c Cluster) MayHaveQuorum() bool {
	n := c.ReadyVoters()
	for _, m := range c.Members {
		if m.MayRun && !m.Learner {
			n++
		}
	}
	return n >= Quorum(c.Size)
}

// NodesLost returns why the nodes of members are lost, each once and after a colon. It is empty if no node is.
func NodesLost(members []Member) string {
	var why []string
	for _, m := range members {
		if m.NodeLost != "" && !slices.Contains(why, m.NodeLost) {
			why = append(why, m.NodeLost)
		}
	}
	if len(why) == 0 {
		return ""
	}
	return ": " + strings.Join(why, ", ")
}
