// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestVoters compares the number of voters with what Kubernetes and etcd have.
func TestVoters(t *testing.T) {
	t.Parallel()
	failed := errors.New("refused")
	for _, row := range []struct {
		name      string
		size      int
		list      []etcd.Listed
		listErr   error
		unreached error
		want      int
	}{
		{"both have three", 3, make([]etcd.Listed, 3), nil, nil, 3},
		{"scaled in by hand", 3, make([]etcd.Listed, 5), nil, nil, 5},
		{"members were removed", 5, make([]etcd.Listed, 3), nil, nil, 3},
		{"a learner", 4, []etcd.Listed{{}, {}, {}, {Learner: true}}, nil, nil, 3},
		{"no list", 3, nil, nil, nil, 3},
		{"an old list", 3, make([]etcd.Listed, 5), failed, nil, 3},
		{"no member answers", 3, nil, nil, failed, 3},
	} {
		c := &Cluster{Unreached: row.unreached, survey: etcd.Survey{List: row.list, ListErr: row.listErr}}
		c.facts.Cluster.Size = row.size
		if got := c.voters(); got != row.want {
			t.Errorf("%s: got %d voters, want %d", row.name, got, row.want)
		}
	}
}
