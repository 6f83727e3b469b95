// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestCheckNotAhead: the list of a leader that started again without data counts for nothing while another member of the
// same cluster ID has more. A member that was removed has less.
func TestCheckNotAhead(t *testing.T) {
	t.Parallel()
	unlisted := errors.New("runs a member that the list lacks")
	leader := etcd.Member{Pod: "main-0", ID: 1, ClusterID: 7, LeaderID: 1, Leader: true, RaftIndex: 9}
	for name, row := range map[string]struct {
		other  etcd.Member
		halted bool
	}{
		"it has more":            {etcd.Member{Pod: "main-1", ID: 2, ClusterID: 7, RaftIndex: 5000, Err: unlisted}, true},
		"it was removed":         {etcd.Member{Pod: "main-1", ID: 2, ClusterID: 7, RaftIndex: 9, Err: unlisted}, false},
		"it is of another":       {etcd.Member{Pod: "main-1", ID: 2, ClusterID: 8, RaftIndex: 5000, Err: unlisted}, false},
		"it does not answer":     {etcd.Member{Pod: "main-1", Err: unlisted}, false},
		"it is listed and ahead": {etcd.Member{Pod: "main-1", ID: 2, ClusterID: 7, LeaderID: 1, RaftIndex: 11}, false},
	} {
		err := checkNotAhead(etcd.Survey{Members: []etcd.Member{leader, row.other}})
		if (err != nil) != row.halted || err != nil && !strings.Contains(err.Error(), "main-1 may have the only data. Nothing is changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := checkNotAhead(etcd.Survey{Members: []etcd.Member{{Pod: "main-1", ID: 2, RaftIndex: 5000, Err: unlisted}}}); err != nil {
		t.Errorf("without a leader: %v", err)
	}
}
