// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

// ReadyVoters counts the voters that gave a sign of life and whose pods are Ready.
//
// Where leases were seen for the first time, their age is the difference of two machines'
// clocks: a member that died less than about a minute ago may still count.
func (c Cluster) ReadyVoters() int {
	n := 0
	for _, m := range c.Members {
		if m.Ready && m.PodReady && !m.Learner {
			n++
		}
	}
	return n
}
