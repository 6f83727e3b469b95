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

// comparison groups members by their hashes. Hashes at different compact revisions can't be compared:
// a compaction is under way.
func comparison(h etcd.Hashes) maintenance.Comparison {
	c := maintenance.Comparison{Revision: h.Revision}
	at := map[uint32]int{}
	compacted := int64(-1)
	for _, m := range h.Members {
		switch {
		case m.Err != nil:
			c.Unknown = fmt.Sprintf("%s: %s", m.Pod, etcd.Reason(m.Err))
			continue
		case compacted >= 0 && m.CompactRevision != compacted:
			c.Unknown = fmt.Sprintf("%s has compacted up to revision %d, another up to %d; try again", m.Pod, m.CompactRevision, compacted)
			continue
		}
		compacted = m.CompactRevision
		group, known := at[m.Hash]
		if !known {
			group = len(c.Groups)
			at[m.Hash] = group
			c.Groups = append(c.Groups, nil)
		}
		c.Groups[group] = append(c.Groups[group], m.Pod)
	}
	return c
}
