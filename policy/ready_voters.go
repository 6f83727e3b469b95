// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

// ReadyVoters returns the number of voters that are known to be ready and whose pods are Ready.
// Budgets and rollouts count them.
//
// The age of a lease that was seen for the first time is the difference of two machines' clocks,
// so a member that died less than about a minute ago may still count.
func (c Cluster) ReadyVoters() int {
	n := 0
	for _, m := range c.Members {
		if m.Ready && m.PodReady && !m.Learner {
			n++
		}
	}
	return n
}

// UpVoters returns the number of voters that are ready, or that are not known to be down because
// their pods became Ready a short time ago. This is what list, status and the metrics show.
func (c Cluster) UpVoters() int {
	n := 0
	for _, m := range c.Members {
		if (m.Ready || m.JustReady) && m.PodReady && !m.Learner {
			n++
		}
	}
	return n
}
