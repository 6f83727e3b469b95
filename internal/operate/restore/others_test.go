// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestMembersOfOtherWorkloads: while members answer that other workloads run, no plan restores the rest, and their
// revisions count.
func TestMembersOfOtherWorkloads(t *testing.T) {
	t.Parallel()
	survey := etcd.Survey{
		Members: []etcd.Member{{Pod: "main-0", ID: 1, ClusterID: 7, LeaderID: 2, Revision: 100}},
		List:    []etcd.Listed{{ID: 1, Name: "main-0", Pod: "main-0"}, {ID: 2, Name: "x"}},
		Others:  []etcd.Member{{Pod: "x-0", ID: 2, ClusterID: 7, LeaderID: 2, Leader: true, Revision: 900}},
	}
	r := plainRestore()
	r.SetSurvey(survey, false)
	if err := r.refusal(); err == nil || !strings.Contains(err.Error(), "pod x-0, which other workloads run") || r.Newest != 900 {
		t.Errorf("newest is %d, refused: %v", r.Newest, err)
	}
	survey.Others = nil
	r.SetSurvey(survey, false)
	if err := r.refusal(); err != nil {
		t.Errorf("no member answers elsewhere: %v", err)
	}
}
