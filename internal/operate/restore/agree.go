// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Agree returns why the members of a survey are not yet one cluster of some size at a revision or a
// later one, nil if they are.
func Agree(s etcd.Survey, size int, revision int64) error {
	leader, found := s.Leader()
	switch {
	case len(s.Members) != size:
		return fmt.Errorf("%s of %d can be reached", policy.Count(len(s.Members), "member"), size)
	case s.ListErr != nil:
		return fmt.Errorf("the members have no quorum yet: %w", s.ListErr)
	case len(s.List) != size:
		return fmt.Errorf("the cluster has %s, want %d", policy.Count(len(s.List), "member"), size)
	}
	for _, m := range s.Members {
		switch {
		case m.Err != nil:
			return fmt.Errorf("member %s doesn't answer: %w", m.Pod, m.Err)
		case !found || m.LeaderID != leader.ID || m.ClusterID != leader.ClusterID:
			return fmt.Errorf("member %s doesn't follow the leader yet", m.Pod)
		case m.Revision < revision:
			return fmt.Errorf("member %s is at revision %d, want %d or more", m.Pod, m.Revision, revision)
		}
	}
	return nil
}

// SameData returns an error unless all members have returned the same hash.
func SameData(h etcd.Hashes) error {
	groups, left := h.Groups()
	switch {
	case len(left) > 0 && left[0].Err != nil:
		return fmt.Errorf("member %s returns no hash of its data: %w", left[0].Pod, left[0].Err)
	case len(left) > 0:
		return fmt.Errorf("member %s has compacted other revisions than the others", left[0].Pod)
	case len(groups) != 1:
		return fmt.Errorf("the data of %s and %s differs at revision %d", groups[0][0].Pod, groups[1][0].Pod, h.Revision)
	}
	return nil
}
