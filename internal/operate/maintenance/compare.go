// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// Compare compares hashes of the data of all voters of a survey. Each voter reads its whole database
// for that. It fails only where the context ends.
func Compare(ctx context.Context, members *etcd.Cluster, s etcd.Survey, timer clock.Clock) (maintenance.Comparison, error) {
	var voters []etcd.Member
	for _, m := range s.Members {
		if !m.Learner {
			voters = append(voters, m)
		}
	}
	hashes, err := members.Hashes(ctx, voters, timer)
	return comparison(hashes), err
}

// comparison returns hashes as the rules use them.
func comparison(h etcd.Hashes) maintenance.Comparison {
	c := maintenance.Comparison{Revision: h.Revision}
	groups, left := h.Groups()
	for _, group := range groups {
		var pods []string
		for _, m := range group {
			pods = append(pods, m.Pod)
		}
		c.Groups = append(c.Groups, pods)
	}
	for _, m := range left {
		if m.Err != nil {
			c.Unknown = fmt.Sprintf("%s: %s", m.Pod, etcd.Reason(m.Err))
			continue
		}
		c.Unknown = fmt.Sprintf("%s has compacted up to revision %d, another up to %d; try again", m.Pod, m.CompactRevision, m.Other)
	}
	return c
}
