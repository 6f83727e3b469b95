// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// checkNotAhead returns an error if a member that the list lacks is ahead of the leader.
func checkNotAhead(s etcd.Survey) error {
	leader, _ := s.Leader()
	for _, m := range s.Members {
		if !s.IsAhead(m) {
			continue
		}
		return fmt.Errorf("%s answers as member %016x of the same etcd cluster, which the member list lacks, and its raft index is %d, above %d of the leader %s: the leader may have started again without data, and %s may have the only data. Nothing is changed. Copy the data directory of %s, and find out why %s started again, before you change a member, pod or claim",
			m.Pod, m.ID, m.RaftIndex, leader.RaftIndex, leader.Pod, m.Pod, m.Pod, leader.Pod)
	}
	return nil
}
